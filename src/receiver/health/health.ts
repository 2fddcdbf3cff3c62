import type { PosthornError } from '../errors.ts';
import type { JournalHealth } from '../journal/journal-writer.ts';
import type { Outcome } from '../outcomes/outcome.ts';
import type { ReportCode } from '../refusals.ts';

/** The result of `receiver.health`. Points in time are in milliseconds since the epoch. */
export interface Health {
  /** The name of the provider. */
  readonly provider: string;
  /** True once `close` was called: new deliveries are answered 503. */
  readonly closing: boolean;
  /** The state of the store. */
  readonly store: StoreHealth;
  /** The number of events that this process is handling, whatever brought them. */
  readonly running: number;
  /** The dead letters that wait to be replayed or dropped; undefined for a receiver without `deadLetters`. */
  readonly deadLetters: DeadLettersHealth | undefined;
  /** The journal, as the writes of this receiver show it; undefined for a receiver without `journal`. */
  readonly journal: JournalHealth | undefined;
  /** The last authentic delivery that was answered; undefined before the first. */
  readonly lastDelivery: LastDelivery | undefined;
}

/** The state of the store, by its answer to a question that does not write anything. */
export interface StoreHealth {
  /** False if it failed, or did not answer within 1.5 seconds. */
  readonly ok: boolean;
  /** The time until it answered or failed, in milliseconds. */
  readonly latencyMs: number;
  /** The time when `health` first found it failing; undefined while it answers. */
  readonly failingSince?: number | undefined;
  /** The reason if `ok` is false. The message may hold the address of a server. */
  readonly error?: PosthornError | undefined;
}

/**
 * The number of dead letters that wait. A dead letter whose handlers may still be running is not counted.
 * Beyond 1,000, or if reading takes too long, dead letters are counted unread, and those of running handlers
 * are counted too.
 */
export interface DeadLettersHealth {
  /** False if the dead letters failed, or did not answer in time. */
  readonly ok: boolean;
  /** The number of waiting dead letters, at most 1,000; undefined if the dead letters did not answer. */
  readonly waiting: number | undefined;
  /** True if there may be more than `waiting`, because the count was not finished. */
  readonly more: boolean;
  /** The time when the oldest waiting dead letter was parked. */
  readonly oldestParkedAt?: number | undefined;
  /** The reason if `ok` is false. The message may hold an address or a path. */
  readonly error?: PosthornError | undefined;
}

/** The last authentic delivery that was answered. */
export interface LastDelivery {
  /** The time when it arrived. */
  readonly receivedAt: number;
  /** Its result. */
  readonly outcome: Outcome;
  /** The code of its error, if its event was not processed. */
  readonly code?: ReportCode | undefined;
}

/**
 * The time limit for the store and the dead letters. Both are asked at once, and `health` promises 2 seconds.
 */
export const QUESTION_LIMIT_MS = 1_500;
