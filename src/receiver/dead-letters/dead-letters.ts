import type { StoredSender } from '../provider/event-identity.ts';

/**
 * A place for events that were not handled and for which no further attempt is certain. `put` resolves only
 * once the dead letter is durable: the service then gets a 2xx and never sends the event again.
 */
export interface DeadLetters {
  /**
   * Stores a dead letter, and replaces any other with its id. A dead letter with the same `parkedAt` keeps
   * its place in the list. The implementations of posthorn reject one with a wrong member
   * (`dead_letter_invalid`), because they could not read it again.
   */
  put(letter: DeadLetter): Promise<void>;
  /** Resolves with undefined if no dead letter has this id. */
  get(id: string): Promise<DeadLetter | undefined>;
  /** Resolves with true if there was a dead letter with this id. */
  remove(id: string): Promise<boolean>;
  /**
   * Lists dead letters in the order of `parkedAt`, the oldest first, each at most once. `after` is the id of
   * the last dead letter seen, which may have been removed since. A damaged one does not count for `limit`.
   * Rejects if the dead letters cannot be reached. `receiver.health` counts up to 1,000 of them by it, or by
   * `summaries`.
   */
  list(options?: {
    readonly after?: string | undefined;
    readonly limit?: number | undefined;
  }): AsyncIterable<DeadLetter>;
  /**
   * Lists dead letters as `list` does, without reading their bodies: it does not see damage in a body, or
   * what other programs have put behind it. Without this method, whoever shows many dead letters reads each
   * as a whole.
   */
  summaries?(options?: {
    readonly after?: string | undefined;
    readonly limit?: number | undefined;
  }): AsyncIterable<DeadLetterSummary>;
  /**
   * Counts the dead letters without reading them, up to `limit`, including those whose `runningUntil` is
   * later than now. With this method `receiver.health` knows how many dead letters there are before it has
   * read them.
   */
  count?(options: { readonly limit: number }): Promise<number>;
  /**
   * Returns true if an operation that begins now would wait for a connection. The receiver then counts the
   * body of the event in `maxBufferedBytes`; if it does not fit, or with `onStoreFailure: 'process'`, the
   * operation fails at once. Dead letters that never wait leave this method out.
   */
  mustWait?(): boolean;
}

/**
 * An event that could not be handled, kept until it is replayed or dropped. Times are in milliseconds since
 * the epoch.
 */
export interface DeadLetter extends StoredSender {
  /**
   * The event's key: its id, unless the receiver has a `provider`. If no id could be read, the SHA-256 of the
   * body (hex) stands for it.
   */
  readonly id: string;
  /** Absent if it could not be read. */
  readonly type?: string | undefined;
  /** The code of the error, for example `handler_failed` or `event_too_old`. */
  readonly reason: string;
  /** The error's message. It may quote what a handler threw. */
  readonly message: string;
  /** The body as it was signed. */
  readonly rawBody: Uint8Array;
  /** They lack `authorization`, `proxy-authorization` and `cookie`. */
  readonly headers: { readonly [name: string]: readonly string[] };
  /** When the parked delivery arrived. */
  readonly receivedAt: number;
  /** When the event was first parked; a replay that fails does not change it. */
  readonly parkedAt: number;
  /** When the dead letter was stored again, after a further attempt. Absent until then. */
  readonly lastTriedAt?: number | undefined;
  /** The number of attempts that were made. */
  readonly attempts: number;
  /** Names of the handlers that have succeeded; a replay skips them. */
  readonly handled: readonly string[];
  /**
   * The handlers of the event may be running until this time: do not replay or drop the dead letter before.
   */
  readonly runningUntil?: number | undefined;
}

/** A dead letter without its body and its headers. */
export type DeadLetterSummary = Omit<DeadLetter, 'rawBody' | 'headers'>;
