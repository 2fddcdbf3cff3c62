/** Clocks run at slightly different speeds, so the server stops before the last part of a time limit. */
const DRIFT_ALLOWANCE = 0.02;

/**
 * Tells when a statement is too late, by the clock of the server.
 *
 * A statement that was given up may still run: a frozen server reads it when it thaws, and one that waits for
 * a lock may get it a moment later. `statement_timeout` counts from when the server begins, so it would not
 * help. So each statement carries a time after which it takes nothing. Nothing is set in the session, which
 * PgBouncer may lend to somebody else next. What remains is a server that freezes in the middle of a
 * statement: its claim may hold until the lease ends, unless the release that follows comes first.
 */
export class ServerClock {
  /**
   * The server's time minus our monotonic clock, from the last answer. An answer takes time to arrive, so
   * this is too small rather than too large, and a statement gives up before its caller does. Until the
   * first answer, our clock is assumed to agree with the server's.
   */
  #offsetMs: number = Date.now() - performance.now();

  /** Takes the time of an answer that has just come, in milliseconds since the epoch. */
  set(serverTimeMs: number): void {
    this.#offsetMs = serverTimeMs - performance.now();
  }

  /** The server's time at `endsAt` of our monotonic clock, a little before it. */
  latest(endsAt: number, limitMs: number): number {
    return endsAt + this.#offsetMs - limitMs * DRIFT_ALLOWANCE;
  }
}
