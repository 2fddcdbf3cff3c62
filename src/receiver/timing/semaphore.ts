interface Waiting {
  readonly count: number;
  readonly grant: () => void;
}

/**
 * A counting semaphore: permits for a limited number of operations at once, granted in the order of the
 * requests. (The semaphore of `async-mutex` keeps a request in its queue after its caller has given up.)
 */
export class Semaphore {
  #size: number;
  #taken = 0;
  readonly #urgent = new Set<Waiting>();
  readonly #others = new Set<Waiting>();

  constructor(size: number) {
    this.#size = size;
  }

  /** The number of permits. Setting it may grant waiting requests. */
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
   * Acquires `count` permits, all at once; more than the semaphore has are never granted. An urgent request
   * goes before all others. `within` waits for the promise that it gets, and may give up. If it rejects, the
   * request is withdrawn, and this rejects with the same error.
   */
  async acquire(
    within: (granted: Promise<void>) => Promise<unknown>,
    { count = 1, isUrgent = false }: { readonly count?: number; readonly isUrgent?: boolean } = {},
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
      // Permits that were granted in the same moment go to the next request. Smaller requests may have waited
      // behind a large one that is now withdrawn.
      this.release(wasWaiting ? 0 : count);
      throw error;
    }
  }

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
