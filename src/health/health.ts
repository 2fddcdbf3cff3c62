import type { PosthornError } from '../errors.ts';
import type { Outcome, ReportCode } from '../outcomes/outcome.ts';

/** What `receiver.health` answers. Points in time are in milliseconds since the epoch. */
export interface Health {
  /** True since `close` was called: new deliveries are answered 503. */
  readonly closing: boolean;
  /** Whether the store answers. */
  readonly store: StoreHealth;
  /** How many events this process is handling: deliveries, replays and jobs. */
  readonly running: number;
  /** The letters that wait for somebody; undefined for a receiver without `deadLetters`. */
  readonly deadLetters: DeadLettersHealth | undefined;
  /** The last authentic delivery that was answered; undefined before the first. */
  readonly lastDelivery: LastDelivery | undefined;
}

/** Whether the store answers a question that writes nothing. */
export interface StoreHealth {
  /** False if it failed, or gave no answer within 1.5 seconds. */
  readonly ok: boolean;
  /** How long it took to answer or to fail, in milliseconds. */
  readonly latencyMs: number;
  /** When `health` was first asked and found it failing; undefined while it answers. */
  readonly failingSince?: number | undefined;
  /** Why it is not ok. The message may hold the address of a server. */
  readonly error?: PosthornError | undefined;
}

/**
 * How many letters wait. Those whose handlers may still be running are not counted, as far as letters have
 * been read: if there are more than 1,000, or reading them takes too long, some are counted unread.
 */
export interface DeadLettersHealth {
  /** False if they could not be asked, or not all of them could be read. */
  readonly ok: boolean;
  /** How many wait, at most 1,000; undefined if they could not be asked. */
  readonly waiting: number | undefined;
  /** True if there may be more than `waiting`: they were not counted to their end. */
  readonly more: boolean;
  /** When the letter was parked that has waited longest. */
  readonly oldestParkedAt?: number | undefined;
  /** Why they are not ok. The message may hold an address or a path. */
  readonly error?: PosthornError | undefined;
}

/** The last authentic delivery that was answered. */
export interface LastDelivery {
  /** When it arrived. */
  readonly receivedAt: number;
  /** What became of it. */
  readonly outcome: Outcome;
  /** The code of its error, if its event was not processed. */
  readonly code?: ReportCode | undefined;
}

/** How long the store and the dead letters may take: both are asked at once, and 2 seconds are promised. */
export const QUESTION_LIMIT_MS = 1_500;
