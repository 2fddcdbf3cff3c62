import { isPosthornError } from '../receiver/errors.ts';
import { oneLine } from '../receiver/outcomes/one-line.ts';
import { performance } from '../receiver/timing/process-clock.ts';
import { messageOf } from '../receiver/values/foreign-values.ts';
import { ANSWER_MS, callInTime } from './call-in-time.ts';
import type { OperatorDeed, OperatorOptions } from './options.ts';
import { Problem } from './problem.ts';

/** The most ids that one request works on. */
export const MOST_IDS = 20;

/** The time after which a request begins with no further id. Proxies give up after 30 seconds. */
const DEED_MS = 20_000;

/** The time in which a request looks for ids, so that each request gets further. */
const SEARCH_MS = 10_000;

/** The errors that each further event would have too. */
const LASTING: readonly unknown[] = [
  'store_unavailable',
  'dead_letters_unavailable',
  'journal_unavailable',
  'closing',
];

/** The ids that one request works on, each once, and those that are left to the next. */
export function firstIds(ids: readonly string[]): {
  readonly first: readonly string[];
  readonly rest: readonly string[];
} {
  const distinct = [...new Set(ids)];
  return { first: distinct.slice(0, MOST_IDS), rest: distinct.slice(MOST_IDS) };
}

/** The end of a deed on one event. */
export interface DeedResult {
  readonly id: string;
  readonly type?: string | undefined;
  readonly outcome: string;
  readonly code?: string | undefined;
  readonly message?: string | undefined;
}

/** The end of a deed on an event that failed outside of its handlers. */
export function failedDeed(id: string, type: string | undefined, error: unknown): DeedResult {
  const code = isPosthornError(error) ? error.code : 'internal_error';
  return { id, type, outcome: 'failed', code, message: messageOf(error) };
}

/** The end of a portion of a deed. */
export interface DeedEnd {
  readonly results: readonly DeedResult[];
  /** The error that ended the portion, because each further event would have it too. */
  readonly stopped?: Pick<DeedResult, 'id' | 'code' | 'message'> | undefined;
}

/** The time and the connection of a request that does a deed. */
export class DeedTime {
  readonly #beganAt = performance.now();
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  get leftMs(): number {
    return Math.max(0, this.#beganAt + DEED_MS - performance.now());
  }

  /** True once the ids that were found have to do. */
  get isSearchOver(): boolean {
    return this.isOver || performance.now() > this.#beganAt + SEARCH_MS;
  }

  /** True once the operator has gone. */
  get isAborted(): boolean {
    return this.#signal.aborted;
  }

  /** True once the time is over, or the operator has gone. */
  get isOver(): boolean {
    return this.isAborted || this.leftMs === 0;
  }
}

/**
 * Does a deed on one event after the other, once `audit` knows of it. What is not begun when the time is over
 * is left to the next request.
 */
export async function doDeed(
  deed: OperatorDeed,
  time: DeedTime,
  audit: OperatorOptions['audit'],
  doOne: (id: string) => Promise<DeedResult>,
): Promise<DeedEnd> {
  if (deed.ids.length === 0) return { results: [] };
  await auditFirst(deed, audit);
  const results: DeedResult[] = [];
  let stopped: DeedEnd['stopped'];
  for (const id of deed.ids) {
    // A search may have taken all of the time: then the first one is tried all the same.
    if (results.length === 0 ? time.isAborted : time.isOver) break;
    const result = await doOne(id);
    const { code, message } = result;
    if (LASTING.includes(code)) {
      stopped = { id, code, message };
      break;
    }
    results.push(result);
  }
  if (results.length > 0) log(deed, results);
  return { results, stopped };
}

async function auditFirst(deed: OperatorDeed, audit: OperatorOptions['audit']): Promise<void> {
  if (audit === undefined) return;
  try {
    await callInTime(() => audit({ ...deed, ids: [...deed.ids] }), ANSWER_MS);
  } catch (cause) {
    throw new Problem(
      'audit_failed',
      `nothing was done, because the option audit failed: ${messageOf(cause)}`,
      { cause },
    );
  }
}

/** Observers get a report of each run, but none says who asked for it, or tells of a drop. */
function log({ by, deed, receiver }: OperatorDeed, results: readonly DeedResult[]): void {
  const ends = results.map(({ id, outcome }) => `${oneLine(id)}=${outcome}`);
  const of = receiver === undefined ? '' : ` [${oneLine(receiver)}]`;
  // biome-ignore lint/suspicious/noConsole: whoever reads the log must find each deed in it
  console.info(`posthorn:${of} operator=${oneLine(by)} ${deed} ${ends.join(' ')}`);
}
