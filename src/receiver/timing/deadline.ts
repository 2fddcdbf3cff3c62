import { performance } from './process-clock.ts';

/**
 * The time for one operation on a dead letter, if a delivery has `limitMs` in all. It is a fourth of that, so
 * that a short deadline leaves time for the rest. It is at most two seconds, because a disk or a server that
 * needs more is down.
 */
export function letterTimeMs(limitMs: number): number {
  return Math.min(2_000, limitMs / 4);
}

/**
 * The latest time of each step of a delivery, by the monotonic clock (`performance.now()`). A replay, a
 * job, a fetched event and a rerun have a deadline too, which counts from their start.
 *
 * With the default of 25 seconds, a claim must be sent by 16.8, the body and the signing keys must be there
 * by 18.75, and the handlers must begin by 18.8. The answer leaves by 25, or by 23 if a dead letter may have
 * to be stored first.
 */
export class Deadline {
  readonly startedAt: number;
  #limitMs: number;

  /** `limitMs` is the time from now to the answer. */
  constructor(limitMs: number) {
    this.startedAt = performance.now();
    this.#limitMs = limitMs;
  }

  /** Shortens the time to `limitMs` from the start. Never lengthens it. */
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

  /**
   * When to answer, if time must be left to store the dead letter of an event that is not handled by then.
   */
  get answerOrParkBy(): number {
    return this.answerBy - letterTimeMs(this.#limitMs);
  }

  /**
   * When the body and the signing keys must be there: the last fourth of the time is for the event and its
   * dead letter.
   */
  get bodyBy(): number {
    return this.answerBy - this.#limitMs / 4;
  }

  /**
   * The longest wait of a claim before it is sent, so that the handlers begin in time even if the store then
   * takes `commandTimeoutMs` to reply. It is never less than `commandTimeoutMs`, whatever the deadline.
   */
  claimWaitMs(commandTimeoutMs: number): number {
    return Math.max(commandTimeoutMs, this.#plannedBegin - commandTimeoutMs - performance.now());
  }

  /**
   * When the handlers must begin. Before that they may wait for permits, or for the dead letter of a last
   * attempt to be stored. Read it when that wait begins: storing then has the time of one operation, even
   * after a long wait for another process.
   */
  get handlersBeginBy(): number {
    return Math.max(this.#plannedBegin, performance.now() + letterTimeMs(this.#limitMs));
  }

  /** Leaves a sixth of the time for the handlers, besides the time for a dead letter. */
  get #plannedBegin(): number {
    return this.answerOrParkBy - this.#limitMs / 6;
  }

  /**
   * When a dead letter must be stored if the answer waits for it. Storing has the time of one operation, even
   * if the deadline is near.
   */
  get letterBy(): number {
    return Math.max(this.answerBy, performance.now() + letterTimeMs(this.#limitMs));
  }

  /**
   * When an operation must have ended if no sender waits for it: it has the whole time of a delivery, from
   * now.
   */
  get backgroundBy(): number {
    return performance.now() + this.#limitMs;
  }

  /** The longest time that adding a job to the queue may take. */
  get enqueueMs(): number {
    return Math.min(5_000, this.#limitMs / 4);
  }

  get isPast(): boolean {
    return performance.now() >= this.answerBy;
  }
}
