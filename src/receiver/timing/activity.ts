/** Counts the operations that are under way, so that `close()` can wait for them. */
export class Activity {
  #count = 0;
  #idleListeners: (() => void)[] = [];

  begin(): void {
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
    if (this.#count > 0) return;
    for (const listener of this.#idleListeners.splice(0)) listener();
  }

  /** Resolves once nothing is running. */
  idle(): Promise<void> {
    return this.#count === 0
      ? Promise.resolve()
      : new Promise((resolve) => this.#idleListeners.push(resolve));
  }
}
