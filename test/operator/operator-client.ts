import type { DeadLetterSummary, JournalEntry, Receiver } from 'posthorn';
import { type OperatorOptions, toNodeOperator, toOperator } from 'posthorn/operator';
import { listenUntilTheEnd } from '../support/listen.ts';

/** The members of answers that these tests read. */
export interface AnswerBody {
  readonly deadLetters?: readonly DeadLetterSummary[];
  readonly events?: readonly JournalEntry[];
  readonly after?: string;
  readonly results?: readonly OperatorResult[];
  readonly stopped?: { readonly code: string; readonly message: string };
  readonly next?: object;
  readonly count?: number;
  readonly skipped?: object;
  readonly code?: string;
  readonly detail?: string;
  readonly body?: string;
}

/** The end of a deed on one event. */
export interface OperatorResult {
  readonly id: string;
  readonly outcome: string;
  readonly code?: string;
  readonly message?: string;
}

/** An answer of the interface. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: AnswerBody;
}

/** A deed, by the path of its route. */
export type Deed = 'dead-letters/replay' | 'dead-letters/drop' | 'events/rerun';

/** The path under which these tests serve the interface. */
const PATH = '/operator';

/** Lets everybody in, and shows them all. */
export const openToAll: OperatorOptions = {
  path: PATH,
  authorize: () => ({ name: 'tester', bodies: true }),
};

/** Asks an interface of operators. */
export class OperatorClient {
  readonly #fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly #origin: string;

  constructor(origin: string, send: (url: string, init: RequestInit) => Promise<Response> = fetch) {
    this.#origin = origin;
    this.#fetch = send;
  }

  get(path: string, query: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.#send(`${path}?${new URLSearchParams(query)}`, {});
  }

  post(deed: Deed, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.#send(deed, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  }

  /** Goes through the pages of a list by `after`. */
  async *pages(path: string, query: Readonly<Record<string, string>> = {}): AsyncGenerator<AnswerBody> {
    let after: string | undefined;
    do {
      const { body, status, text } = await this.get(path, after === undefined ? query : { ...query, after });
      if (status !== 200) throw new Error(`${status}: ${text}`);
      yield body;
      after = body.after;
    } while (after !== undefined);
  }

  /** Goes on with a deed by `next`, to its end. */
  async *follow(deed: Deed, first: object): AsyncGenerator<AnswerBody> {
    let next: object | undefined = first;
    while (next !== undefined) {
      const { body, status, text }: Answer = await this.post(deed, next);
      if (status !== 200) throw new Error(`${status}: ${text}`);
      yield body;
      next = body.next;
    }
  }

  async #send(path: string, init: RequestInit): Promise<Answer> {
    const response = await this.#fetch(`${this.#origin}${PATH}/api/${path}`, init);
    const text = await response.text();
    return { status: response.status, text, body: JSON.parse(text) };
  }
}

/** Serves the interface on Node.js http until the end of the test. */
export async function serveOperator(
  receiver: Receiver,
  options: Partial<OperatorOptions> = {},
): Promise<OperatorClient> {
  return new OperatorClient(await listenUntilTheEnd(toNodeOperator(receiver, { ...openToAll, ...options })));
}

/** Serves the interface by the Request and Response of the web. */
export function operatorOverFetch(receiver: Receiver): OperatorClient {
  const operator = toOperator(receiver, openToAll);
  return new OperatorClient('http://backoffice.example', (url, init) => operator(new Request(url, init)));
}

/** All results of a deed that goes on to its end. */
export async function resultsOf(answers: AsyncIterable<AnswerBody>): Promise<readonly OperatorResult[]> {
  const all: OperatorResult[] = [];
  for await (const { results = [] } of answers) all.push(...results);
  return all;
}
