/** The names of what a case is waiting for, for the message when its time is over. */
export class Waits {
  readonly #pending: string[] = [];

  async for<T>(what: string, promise: Promise<T>): Promise<T> {
    this.#pending.push(what);
    try {
      return await promise;
    } finally {
      this.#pending.splice(this.#pending.indexOf(what), 1);
    }
  }

  toString(): string {
    return [...new Set(this.#pending)].join(', ');
  }
}

/** A promise to be opened by hand, for a handler to wait on. */
export class Gate {
  open: () => void = () => {};
  readonly opened: Promise<void> = new Promise((resolve) => {
    this.open = resolve;
  });
}

/** A promise that never settles. */
export function never<T>(): Promise<T> {
  return new Promise(() => {});
}
