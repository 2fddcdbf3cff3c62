/**
 * Where events are parked when no further attempt can be counted on. `put` resolves only once the letter is durable:
 * the service is then told 2xx and never sends the event again.
 */
export interface DeadLetters {
  /** Stores a letter in place of any other with its id. */
  put(letter: DeadLetter): Promise<void>;
  get(id: string): Promise<DeadLetter | undefined>;
  /** Whether there was one. */
  remove(id: string): Promise<boolean>;
  /** The letters in a stable order; `after` is the id of the last one seen, whether or not it is still there. */
  list(options?: { readonly after?: string; readonly limit?: number }): AsyncIterable<DeadLetter>;
}

/** A parked event. Times are in milliseconds since the epoch. */
export interface DeadLetter {
  /** The event's id, or the SHA-256 of the body (hex) where no id could be read. */
  readonly id: string;
  /** Absent where it could not be read. */
  readonly type?: string | undefined;
  /** The code of the error, for example `handler_failed` or `event_too_old`. */
  readonly reason: string;
  /** The error's message. It may quote what a handler threw. */
  readonly message: string;
  readonly rawBody: Uint8Array;
  /** Without `authorization`, `proxy-authorization` and `cookie`. */
  readonly headers: { readonly [name: string]: readonly string[] };
  readonly receivedAt: number;
  readonly parkedAt: number;
  /** How many attempts were made. */
  readonly attempts: number;
  /** Names of the handlers that have finished; a replay skips them. */
  readonly handled: readonly string[];
  /** The event's handlers may still be running until then: leave the letter alone. */
  readonly runningUntil?: number | undefined;
}
