/** The least number of removals between two copies of the entries. */
const REMOVALS_PER_COPY = 256;

/**
 * A Map for entries that come and go. V8 rebuilds the table of such a Map again and again. An old table that
 * has survived two collections keeps its successors alive, and all that they held, until a full collection. A
 * new Map has no predecessor (`bench/memory/claims.js`).
 */
export class TransientMap<K, V> {
  #entries = new Map<K, V>();
  #removals = 0;

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  set(key: K, value: V): void {
    this.#entries.set(key, value);
  }

  delete(key: K): void {
    if (!this.#entries.delete(key)) return;
    this.#removals += 1;
    const { size } = this.#entries;
    if (size > 0 && this.#removals <= REMOVALS_PER_COPY + size) return;
    this.#entries = size === 0 ? new Map() : new Map(this.#entries);
    this.#removals = 0;
  }

  values(): IterableIterator<V> {
    return this.#entries.values();
  }
}
