import { UnavailableError } from '../../errors.ts';
import type { BodyMemory } from '../../request/body-memory.ts';
import { performance } from '../../timing/process-clock.ts';
import { Semaphore } from '../../timing/semaphore.ts';
import { withTimeLimit } from '../../timing/time-limit.ts';
import type { Interruption } from '../handlers/interruption.ts';

/** The limits of the wait for permits. */
interface PermitWait {
  /** When to give up, by the monotonic clock. */
  readonly until: number;
  /** Counts the body of the waiting event; returns false if the memory is full. */
  readonly countBody: () => boolean;
  readonly interruption: Interruption;
}

/** `maxRunning`: the permits for the handlers of deliveries that run at once in this process. */
export class ConcurrencyLimit {
  readonly #permits: Semaphore;
  readonly #bodyMemory: BodyMemory;

  constructor(maxRunning: number, bodyMemory: BodyMemory) {
    this.#permits = new Semaphore(maxRunning);
    this.#bodyMemory = bodyMemory;
  }

  /**
   * Acquires a permit for each of the handlers, which run side by side, or all permits if there are more
   * handlers than permits. Resolves with the number of permits. Rejects if they are not free in time, or if
   * the run is aborted. If the event would have to wait, and its body does not fit into the memory, rejects
   * at once.
   */
  async acquire(handlers: number, wait: PermitWait): Promise<number> {
    const count = Math.min(handlers, this.#permits.size);
    if (this.#permits.tryAcquire(count)) return count;
    if (!wait.countBody()) throw this.#bodyMemory.fullError();
    await this.#permits.acquire((granted) => this.#within(granted, wait), { count });
    return count;
  }

  #within(granted: Promise<void>, { until, interruption }: PermitWait): Promise<void> {
    const waitMs = Math.max(0, until - performance.now());
    return withTimeLimit(interruption.orAbort(granted), waitMs, () => this.#fullError());
  }

  release(count: number): void {
    this.#permits.release(count);
  }

  #fullError(): UnavailableError {
    return new UnavailableError(
      'too_many_running',
      `maxRunning (${this.#permits.size}) handlers were running, and none of them ended in time for this event`,
    );
  }
}
