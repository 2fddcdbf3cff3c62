import { performance } from '../../timing/process-clock.ts';

/**
 * The time for which the events of one process hand a key on. Then it is released, and the processes whose
 * events wait for it have a chance to claim it. If none does, the next time is twice as long.
 */
const FIRST_TURN_MS = 2_000;
const LONGEST_TURN_MS = 8_000;

/** The time for which one process may have a key. */
export class KeyTurn {
  #lengthMs = FIRST_TURN_MS;
  /** By the monotonic clock; undefined until the next turn begins. */
  #endsAt: number | undefined;
  /** The number of the last claim of this process: the store counts those of all processes. */
  #lastClaim: number | undefined;

  /** Makes the next turn longer if no other process has claimed the key since the last claim. */
  noteClaim(number: number): void {
    const isAlone = this.#lastClaim !== undefined && number === this.#lastClaim + 1;
    if (this.#endsAt === undefined)
      this.#lengthMs = isAlone ? Math.min(2 * this.#lengthMs, LONGEST_TURN_MS) : FIRST_TURN_MS;
    this.#lastClaim = number;
  }

  /**
   * Begins a turn, and returns its end. One that has not ended goes on: an event that came while the key
   * was released does not begin another.
   */
  beginOrGoOn(): number {
    this.#endsAt ??= performance.now() + this.#lengthMs;
    return this.#endsAt;
  }

  /** Other processes have had their chance, or have it now. */
  end(): void {
    this.#endsAt = undefined;
  }
}
