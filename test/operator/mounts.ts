import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { getRequestListener } from '@hono/node-server';
import type { DeadLetterSummary, JournalEntry } from 'posthorn';
import type { Operable, OperableByName, OperatorOptions } from 'posthorn/operator';
import { toNodeOperator, toOperator } from 'posthorn/operator';
import { listenUntilTheEnd } from '../support/listen.ts';

/** A request of an operator. With a body it is a POST of JSON, unless it says something else. */
export interface Asked {
  readonly method?: string;
  /** Undefined leaves one out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** A text or bytes as they are, anything else as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** The members of answers that tests read. */
export interface AnswerBody {
  readonly deadLetters?: readonly DeadLetterSummary[];
  readonly events?: readonly JournalEntry[];
  readonly deliveries?: readonly { readonly source: string; readonly event?: { readonly id: string } }[];
  readonly after?: string;
  readonly results?: readonly OperatorResult[];
  readonly stopped?: { readonly code: string };
  readonly count?: number;
  readonly next?: object;
  readonly code?: string;
  readonly detail?: string;
  readonly body?: string;
}

/** The end of a deed on one event. */
export interface OperatorResult {
  readonly id: string;
  readonly outcome: string;
}

/** The answer that an operator gets. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined if it is not JSON. */
  readonly body: AnswerBody;
}

/** Asks for a path below that of the mount. */
export type Ask = (path: string, asked?: Asked) => Promise<Answer>;

/** The options of a mount, of which `path` and `authorize` have values of their own. */
export type MountOptions = Partial<OperatorOptions<unknown[]>>;

export type MountOperator = (receivers: Operable | OperableByName, options?: MountOptions) => Promise<Ask>;

export const PATH = '/operator';

/** Somebody who may see everything. */
export const ada = { path: PATH, authorize: () => ({ name: 'ada', bodies: true }) } as const;

/** Asks by the Request and Response of the web, without a socket. */
export function fetchOperator(receivers: Operable | OperableByName, options: MountOptions = {}): Ask {
  const handle = toOperator<unknown[]>(receivers, { ...ada, ...options });
  return async (path, asked = {}) => {
    const { headers, ...init } = sentBy(asked);
    const response = await handle(
      new Request(`http://127.0.0.1${PATH}${path}`, {
        ...init,
        headers: Object.entries(headers),
        signal: asked.signal ?? null,
      }),
    );
    return answerOf(response.status, response.headers, await response.text());
  };
}

/** Asks over a socket. The path is sent as it stands, where `fetch` would change it. */
export function askOver(origin: string): Ask {
  return async (path, asked = {}) => {
    const { body, headers, method } = sentBy(asked);
    const options = { path: `${PATH}${path}`, method, headers, agent: false };
    const outgoing = request(origin, options);
    // A killed server may break the socket in the middle of its answer: then reading the rest fails.
    outgoing.on('error', () => {});
    const answered = once(outgoing, 'response');
    outgoing.end(body);
    const [incoming] = await answered;
    const fields: [string, string][] = Object.entries(incoming.headers).map(([name, value]) => [
      name,
      String(value),
    ]);
    return answerOf(incoming.statusCode, new Headers(fields), await text(incoming));
  };
}

function sentBy({ body, headers = {}, method = body === undefined ? 'GET' : 'POST' }: Asked): {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array<ArrayBuffer> | undefined;
} {
  const own = body === undefined ? {} : { 'content-type': 'application/json' };
  const sent = Object.entries({ ...own, ...headers }).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  return { method, headers: Object.fromEntries(sent), body: encoded(body) };
}

function encoded(body: unknown): string | Uint8Array<ArrayBuffer> | undefined {
  if (body === undefined || typeof body === 'string') return body;
  return body instanceof Uint8Array ? Uint8Array.from(body) : JSON.stringify(body);
}

function answerOf(status: number, headers: Headers, read: string): Answer {
  const isJson = /^application\/(problem\+)?json$/.test(headers.get('content-type') ?? '');
  return { status, headers, text: read, body: isJson && read !== '' ? JSON.parse(read) : undefined };
}

/** Serves the interface on Node.js http until the end of the test. */
export async function serveOperator(
  receivers: Operable | OperableByName,
  options: MountOptions = {},
): Promise<Ask> {
  return askOver(await listenUntilTheEnd(toNodeOperator(receivers, { ...ada, ...options })));
}

/** Each way to mount the interface. */
export const mounts: readonly (readonly [name: string, mount: MountOperator])[] = [
  ['toOperator', async (receivers, options) => fetchOperator(receivers, options)],
  [
    'toOperator behind @hono/node-server',
    async (receivers, options) => {
      const handle = toOperator<unknown[]>(receivers, { ...ada, ...options });
      return askOver(await listenUntilTheEnd(getRequestListener((asked) => handle(asked))));
    },
  ],
  ['toNodeOperator', serveOperator],
];
