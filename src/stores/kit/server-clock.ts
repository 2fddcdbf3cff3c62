import { performance } from '../../receiver/timing/process-clock.ts';

/** Clocks run at slightly different speeds, so this part of a time limit is left unused at its end. */
const DRIFT_ALLOWANCE = 0.02;

/**
 * Tells by the clock of a server when an operation is too late.
 *
 * An operation may still run after its caller has given up: a frozen server reads it when it thaws, a client
 * that reconnects sends it again, and an operation that waits for a lock may get it a moment later. So each
 * operation carries the time after which it is late. A time limit of the server itself would not help,
 * because it counts from the moment when the server begins. A server may still freeze in the middle of a
 * claim. The id is then taken until the lease ends, or until the release that follows.
 */
export class ServerClock {
  readonly #limitMs: number;
  /**
   * The server's time minus our monotonic clock, from the last answer. An answer takes time to arrive, so
   * this is too small rather than too large: the server gives an operation up before its caller does (in a
   * cluster, as far as the clocks of its nodes agree). Until the first answer, our clock is assumed to agree
   * with the server's.
   */
  #offsetMs: number = Date.now() - performance.now();

  /** `limitMs` is the longest time that an operation may take. */
  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /** The longest wait before an operation is sent. After it the server would refuse the operation as late. */
  get longestWaitMs(): number {
    return this.#limitMs * (1 - DRIFT_ALLOWANCE);
  }

  /** Takes the time of an answer that has just come, in milliseconds since the epoch. */
  set(serverTimeMs: number): void {
    this.#offsetMs = serverTimeMs - performance.now();
  }

  /** The server's time a little before `endsAt`, which is a time of our monotonic clock. */
  lateAfter(endsAt: number): number {
    return endsAt + this.#offsetMs - this.#limitMs * DRIFT_ALLOWANCE;
  }

  /**
   * Passes the time of {@link lateAfter} to work, and resolves with undefined if the server refused it as
   * late. A server refuses wrongly if its clock has jumped, or another server has taken over. Its answer
   * brought the new time, so the second try is right.
   */
  async runInTime<Result>(
    endsAt: number,
    work: (lateAfter: number) => Promise<Result | undefined>,
  ): Promise<Result | undefined> {
    return (await work(this.lateAfter(endsAt))) ?? work(this.lateAfter(endsAt));
  }
}
