/** What has been seen so far, in order. A test waits for an entry, past or to come, instead of sleeping. */
export class Seen<T> {
  readonly all: T[] = [];
  readonly #listeners = new Set<() => void>();

  readonly add = (item: T): void => {
    this.all.push(item);
    for (const listener of this.#listeners) listener();
  };

  first(matches: (item: T) => boolean): Promise<T> {
    return this.nth(1, matches);
  }

  nth(count: number, matches: (item: T) => boolean = () => true): Promise<T> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = this.all.filter(matches)[count - 1];
        if (found === undefined) return;
        this.#listeners.delete(look);
        resolve(found);
      };
      this.#listeners.add(look);
      look();
    });
  }
}
