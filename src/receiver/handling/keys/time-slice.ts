import { performance } from '../../timing/process-clock.ts';

const FIRST_SLICE_MS = 2_000;
const LONGEST_SLICE_MS = 8_000;

/**
 * The time for which the events of one process hand a key on. Then it is released, and the processes whose
 * events wait for it have a chance to claim it. If none does, the next time is twice as long.
 */
export class TimeSlice {
  #lengthMs = FIRST_SLICE_MS;
  /** By the monotonic clock; undefined until the next slice begins. */
  #endsAt: number | undefined;
  /** The number of the last claim of this process: the store counts those of all processes. */
  #lastClaim: number | undefined;

  /** Makes the next slice longer if no other process has claimed the key since the last claim. */
  noteClaim(number: number): void {
    const isAlone = this.#lastClaim !== undefined && number === this.#lastClaim + 1;
    if (this.#endsAt === undefined)
      this.#lengthMs = isAlone ? Math.min(2 * this.#lengthMs, LONGEST_SLICE_MS) : FIRST_SLICE_MS;
    this.#lastClaim = number;
  }

  /**
   * Begins a slice, and returns its end. A slice that has not ended goes on, even if the key was released and
   * claimed again meanwhile.
   */
  beginOrContinue(): number {
    this.#endsAt ??= performance.now() + this.#lengthMs;
    return this.#endsAt;
  }

  /** Ends the slice, because another process has claimed the key, or can claim it now. */
  end(): void {
    this.#endsAt = undefined;
  }
}
