/**
 * The time of one operation on a dead letter, of `limitMs` that a delivery has in all. A fourth, so that a
 * short deadline leaves time for the rest; two seconds, because a disk or a server that needs more is down.
 */
export function letterTimeMs(limitMs: number): number {
  return Math.min(2_000, limitMs / 4);
}

/**
 * The plan of a delivery's time: until when each of its steps is waited for, by the monotonic clock
 * (`performance.now()`). A replay and a job have one too, counted from their start.
 *
 * With the default of 25 seconds: the body and the keys have until 18.75, a claim is sent until 16.8, the
 * handlers begin until 18.8, and the answer leaves at 25, or at 23 if a letter may have to be stored first.
 */
export class Deadline {
  readonly startedAt: number;
  #limitMs: number;

  /** `limitMs` is the time from now to the answer. */
  constructor(limitMs: number) {
    this.startedAt = performance.now();
    this.#limitMs = limitMs;
  }

  /** Brings the deadline forward, to `limitMs` after the start; never puts it off. */
  shorten(limitMs: number): void {
    this.#limitMs = Math.min(this.#limitMs, Math.max(0, limitMs));
  }

  /** The time from the start to the answer. */
  get limitMs(): number {
    return this.#limitMs;
  }

  get answerBy(): number {
    return this.startedAt + this.#limitMs;
  }

  /** The answer, if time must be left to store the letter of an event that has not been handled by then. */
  get answerOrParkBy(): number {
    return this.answerBy - letterTimeMs(this.#limitMs);
  }

  /** The body, and the signing keys: the last fourth is for the event and its letter. */
  get bodyBy(): number {
    return this.answerBy - this.#limitMs / 4;
  }

  /**
   * How long a claim may wait before it is sent: the handlers can begin in time, even if the store then takes
   * `commandTimeoutMs` to answer. At least that long, whatever the deadline.
   */
  claimWaitMs(commandTimeoutMs: number): number {
    return Math.max(commandTimeoutMs, this.#plannedBegin - commandTimeoutMs - performance.now());
  }

  /**
   * The beginning of the handlers: they may have to wait for the letter of a last attempt, or for permits.
   * Read it when the wait begins: after a wait for another process the letter still has the time of one
   * operation.
   */
  get handlersBeginBy(): number {
    return Math.max(this.#plannedBegin, performance.now() + letterTimeMs(this.#limitMs));
  }

  /** A sixth of the time is for the handlers, besides the time for a letter. */
  get #plannedBegin(): number {
    return this.answerOrParkBy - this.#limitMs / 6;
  }

  /** A letter that the answer waits for: it has the time of one operation, even if the deadline is near. */
  get letterBy(): number {
    return Math.max(this.answerBy, performance.now() + letterTimeMs(this.#limitMs));
  }

  /** An operation that no sender waits for: as long as a delivery has in all, from now. */
  get backgroundBy(): number {
    return performance.now() + this.#limitMs;
  }

  /** How long adding a job to the queue may take. */
  get enqueueMs(): number {
    return Math.min(5_000, this.#limitMs / 4);
  }

  get isPast(): boolean {
    return performance.now() >= this.answerBy;
  }
}
