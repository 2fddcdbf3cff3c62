interface Waiting {
  readonly count: number;
  readonly grant: () => void;
}

/** How permits are acquired. */
export interface AcquireOptions {
  /** How many permits, all at once; 1 by default. More than the semaphore has are never granted. */
  readonly count?: number;
  /** Goes before all that are not. */
  readonly isUrgent?: boolean;
}

/**
 * A counting semaphore: permits for a limited number of operations at once, granted in the order of the
 * requests. (That of `async-mutex` keeps a request that was given up in its queue.)
 */
export class Semaphore {
  #size: number;
  #taken = 0;
  readonly #urgent = new Set<Waiting>();
  readonly #others = new Set<Waiting>();

  constructor(size: number) {
    this.#size = size;
  }

  /** The number of permits. */
  get size(): number {
    return this.#size;
  }

  set size(size: number) {
    this.#size = size;
    this.#grant();
  }

  /** Acquires permits if they are free and no request waits; false otherwise. */
  tryAcquire(count = 1): boolean {
    const isFree = this.#urgent.size + this.#others.size === 0 && this.#taken + count <= this.#size;
    if (isFree) this.#taken += count;
    return isFree;
  }

  /**
   * Acquires permits. `within` waits for the promise that it is given, and may give up: what it rejects with
   * is rejected with, and the request is withdrawn.
   */
  async acquire(
    within: (granted: Promise<void>) => Promise<unknown>,
    { count = 1, isUrgent = false }: AcquireOptions = {},
  ): Promise<void> {
    let grant = (): void => {};
    const granted = new Promise<void>((resolve) => {
      grant = resolve;
    });
    const waiting: Waiting = { count, grant };
    const queue = isUrgent ? this.#urgent : this.#others;
    queue.add(waiting);
    this.#grant();
    try {
      await within(granted);
    } catch (error) {
      const wasWaiting = queue.delete(waiting);
      // Permits that came in the same moment go on, and so do smaller requests behind a large one.
      this.release(wasWaiting ? 0 : count);
      throw error;
    }
  }

  /** Gives permits back. */
  release(count = 1): void {
    this.#taken -= count;
    this.#grant();
  }

  #grant(): void {
    for (;;) {
      const queue = this.#urgent.size > 0 ? this.#urgent : this.#others;
      const [first] = queue;
      if (first === undefined || this.#taken + first.count > this.#size) return;
      queue.delete(first);
      this.#taken += first.count;
      first.grant();
    }
  }
}
