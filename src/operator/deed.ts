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
  'queue_unavailable',
  'closing',
];

/** The end of a deed on one event. */
export interface DeedResult {
  readonly id: string;
  readonly type?: string | undefined;
  readonly outcome: string;
  readonly code?: string | undefined;
  readonly message?: string | undefined;
}

/** The end of a portion of a deed. */
export interface DeedEnd {
  readonly results: readonly DeedResult[];
  /** The error that ended the portion, because each further event would have it too. */
  readonly stopped?: { readonly code: string; readonly message: string } | undefined;
}

/** The time and the connection of a request that does a deed. */
export class DeedTime {
  readonly searchEndsAt: number = performance.now() + SEARCH_MS;
  readonly endsAt: number = performance.now() + DEED_MS;
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  get leftMs(): number {
    return Math.max(0, this.endsAt - performance.now());
  }

  /** True once the time is over, or the operator has gone. */
  get isOver(): boolean {
    return this.#signal.aborted || this.leftMs === 0;
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
    if (time.isOver) break;
    const result = await doOne(id);
    const { code, message = '' } = result;
    if (code !== undefined && LASTING.includes(code)) {
      stopped = { code, message };
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
    await callInTime(() => audit(deed), ANSWER_MS);
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
