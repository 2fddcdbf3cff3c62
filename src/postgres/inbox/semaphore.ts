/** Permits for a limited number of runs at once. Those that wait get one in the order of their arrival. */
export class Semaphore {
  /** The number of permits. */
  readonly size: number;
  #taken = 0;
  #waiting = new Set<() => void>();

  constructor(size: number) {
    this.size = size;
  }

  /** Takes a permit, if there is one. */
  takeAtOnce(): boolean {
    const isFree = this.#taken < this.size;
    if (isFree) this.#taken += 1;
    return isFree;
  }

  /** Waits for a permit that another run gives, before all that wait or after them; `within` may give up. */
  async take(within: (permit: Promise<void>) => Promise<void>, isFirst = false): Promise<void> {
    let enter = (): void => {};
    const permit = new Promise<void>((resolve) => {
      enter = resolve;
    });
    this.#waiting = isFirst ? new Set([enter, ...this.#waiting]) : this.#waiting.add(enter);
    try {
      await within(permit);
    } catch (error) {
      // A permit that came in the same moment goes to the next.
      if (!this.#waiting.delete(enter)) this.give();
      throw error;
    }
  }

  /** Gives a permit to the run that has waited longest. */
  give(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#taken -= 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
