import type { WebhookEvent } from 'posthorn';
import { deliver } from 'posthorn/testing';
import { KEY } from '../../support/served.ts';
import type { KeptProcess } from './kept-processes.ts';

const ANSWER_LIMIT_MS = 10_000;
/** An entry is written within a second after the answer. */
const UNTIL_WRITTEN_MS = 1_000;

/** Asks the processes of test/stores/kit/all-ways-program.mjs, and remembers what they have answered. */
export class AllWaysCalls {
  /** The calls by their way and outcome; `cut` without an answer. */
  readonly outcomes: Map<string, number> = new Map();
  readonly #processed: { readonly id: string; readonly pid: string; readonly at: number }[] = [];
  /** When a process was last asked for entries that wait, and had none. */
  readonly #writtenUntil = new Map<string, number>();

  /** Resolves with the outcome of a delivery; undefined without an answer. */
  deliver(process: KeptProcess | undefined, event: WebhookEvent): Promise<string | undefined> {
    return this.#ask('deliver', process, event.id, async ({ url }, signal) => {
      const body: unknown = await (await deliver(url, event, { key: KEY, signal })).json();
      return String(Reflect.get(Object(body), 'outcome') ?? 'refused');
    });
  }

  /** Resolves with the outcome of a call of the program; undefined without an answer. */
  call(
    process: KeptProcess | undefined,
    way: 'accept' | 'rerun' | 'replay',
    value: object,
    id?: string,
  ): Promise<string | undefined> {
    return this.#ask(way, process, id, (to, signal) =>
      post(`${to.url}${way}`, JSON.stringify(value), signal),
    );
  }

  /** Finds out whether a process has written all its entries. */
  async lookAtJournal({ pid, url }: KeptProcess): Promise<boolean> {
    const askedAt = performance.now();
    const waiting = await post(`${url}waiting`, '', AbortSignal.timeout(ANSWER_LIMIT_MS)).catch(
      () => undefined,
    );
    if (waiting !== '0') return false;
    this.#writtenUntil.set(pid, askedAt);
    return this.#processed.every((answer) => answer.pid !== pid || answer.at + UNTIL_WRITTEN_MS < askedAt);
  }

  /** The ids of events whose processing is in the journal, because the process has written it since. */
  journaled(): ReadonlySet<string> {
    const isWritten = ({ at, pid }: { readonly at: number; readonly pid: string }): boolean =>
      at + UNTIL_WRITTEN_MS < (this.#writtenUntil.get(pid) ?? 0);
    return new Set(this.#processed.filter(isWritten).map(({ id }) => id));
  }

  async #ask(
    way: string,
    process: KeptProcess | undefined,
    id: string | undefined,
    ask: (process: KeptProcess, signal: AbortSignal) => Promise<string>,
  ): Promise<string | undefined> {
    const outcome =
      process && (await ask(process, AbortSignal.timeout(ANSWER_LIMIT_MS)).catch(() => undefined));
    const name = `${way} ${outcome ?? 'cut'}`;
    this.outcomes.set(name, (this.outcomes.get(name) ?? 0) + 1);
    // A rerun leaves the journal alone.
    if (process && id !== undefined && outcome === 'processed' && way !== 'rerun')
      this.#processed.push({ id, pid: process.pid, at: performance.now() });
    return outcome;
  }
}

async function post(url: string, body: string, signal: AbortSignal): Promise<string> {
  return (await fetch(url, { method: 'POST', body, signal })).text();
}
