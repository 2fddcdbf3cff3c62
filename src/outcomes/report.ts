import type { PosthornError } from '../errors.ts';
import type { Outcome } from './outcome.ts';

/** What observers are told of a delivery. Times are in milliseconds. */
export interface Report {
  readonly outcome: Outcome;
  /** The HTTP status of the answer; for a late report, the one that the outcome would have got. */
  readonly status: number;
  /** Why it was not processed: the code of `error`. */
  readonly code?: string | undefined;
  readonly event?: { readonly id: string; readonly type?: string | undefined } | undefined;
  readonly attempt?: number | undefined;
  readonly final?: boolean | undefined;
  /** The run ended after its delivery had been answered; an earlier report told of the answer. */
  readonly late: boolean;
  /** False where the sender had hung up before its answer, and for a replay, which has no sender. */
  readonly answerSent: boolean;
  /** Since the epoch. */
  readonly receivedAt: number;
  readonly durationMs: number;
  /** The last attempt of this event failed and was answered so: the service may now stop sending anything. */
  readonly endpointAtRisk: boolean;
  readonly warnings: readonly Warning[];
  readonly error?: PosthornError | undefined;
  /** Which of the signing keys matched, from 0. */
  readonly keyIndex?: number | undefined;
  /** The handlers that ended in this attempt. */
  readonly handlers: readonly HandlerReport[];
}

/** One handler's end. */
export interface HandlerReport {
  readonly name?: string | undefined;
  readonly ok: boolean;
  readonly durationMs: number;
}

/**
 * Something that did not change the outcome but wants attention: a code and what lies behind it.
 * - `dead_letters_missing`: the receiver has no `deadLetters`; told once.
 * - `claimed_nothing`: the store did not answer, and `onStoreFailure` is `process`.
 * - `lease_lost`: another process may have run the same handlers.
 * - `completion_pending`: the event was handled but the store does not know it yet; it is being tried again.
 * - `release_failed`: the id was not given back; it is tried again, and a retry may have to wait until the lease ends.
 * - `dead_letter_not_stored`, `dead_letter_not_read`, `dead_letter_not_removed`: the dead letters refused or were late.
 */
export type Warning = `${WarningCode}: ${string}`;

type WarningCode =
  | 'dead_letters_missing'
  | 'claimed_nothing'
  | 'lease_lost'
  | 'completion_pending'
  | 'release_failed'
  | 'dead_letter_not_stored'
  | 'dead_letter_not_read'
  | 'dead_letter_not_removed';

/** Gets each report. What it throws or rejects with changes no answer. */
export type Observer = (report: Report) => unknown;
