/** A Map of V8 that grows copies itself whole: at a million entries the process stands still for 80 ms. A part takes 3. */
const MOST_IN_PART = 2 ** 16;

/**
 * A map that forgets the least recently used entry when it is full. A large one consists of parts, each of which forgets for
 * itself, so that it may hold a little less than `maxEntries` before it forgets.
 */
export class RecentMap<V> {
  readonly #parts: readonly Part<V>[];

  /** `isOver` says of an entry that is to be forgotten in any case. */
  constructor(maxEntries: number, isOver: (value: V) => boolean) {
    const count = Math.ceil(maxEntries / MOST_IN_PART);
    const mostInPart = Math.ceil(maxEntries / count);
    this.#parts = Array.from({ length: count }, () => new Part<V>(mostInPart, isOver));
  }

  get(key: string): V | undefined {
    return this.#partOf(key).get(key);
  }

  set(key: string, value: V): void {
    this.#partOf(key).set(key, value);
  }

  delete(key: string): void {
    this.#partOf(key).delete(key);
  }

  #partOf(key: string): Part<V> {
    const index = this.#parts.length === 1 ? 0 : hash(key) % this.#parts.length;
    // An index below the length always has its part.
    return this.#parts[index] as Part<V>;
  }
}

class Part<V> {
  readonly #entries = new Map<string, V>();
  readonly #mostEntries: number;
  readonly #isOver: (value: V) => boolean;
  /**
   * Stands behind the oldest entry. It is kept, because a new one would have to pass over all the places of entries that were
   * deleted since the map last grew.
   */
  #oldestFirst = this.#entries.entries();
  #oldest: [string, V] | undefined;
  #renewedAt = 64;

  constructor(mostEntries: number, isOver: (value: V) => boolean) {
    this.#mostEntries = mostEntries;
    this.#isOver = isOver;
  }

  get(key: string): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    // The entries of a Map are in the order of their insertion.
    this.set(key, value);
    return value;
  }

  set(key: string, value: V): void {
    this.delete(key);
    this.#forget();
    this.#entries.set(key, value);
    if (this.#entries.size > this.#renewedAt) this.#renew();
  }

  delete(key: string): void {
    this.#entries.delete(key);
    if (this.#oldest?.[0] === key) this.#oldest = undefined;
  }

  /** Makes room for one, and drops up to two that are over: what is remembered for a time takes no more room than that time needs. */
  #forget(): void {
    for (let dropped = 0; dropped < 2; dropped += 1) {
      this.#oldest ??= this.#nextOldest();
      if (this.#oldest === undefined) return;
      const [key, value] = this.#oldest;
      if (this.#entries.size < this.#mostEntries && !this.#isOver(value)) return;
      this.#entries.delete(key);
      this.#oldest = undefined;
    }
  }

  /** An iterator that stands still keeps the tables that the map has outgrown. */
  #renew(): void {
    this.#renewedAt *= 2;
    this.#oldestFirst = this.#entries.entries();
    this.#oldest = undefined;
  }

  #nextOldest(): [string, V] | undefined {
    const next = this.#oldestFirst.next();
    if (next.done !== true) return next.value;
    // An iterator that has come to the end stays there.
    this.#oldestFirst = this.#entries.entries();
    return this.#oldestFirst.next().value;
  }
}

/** FNV-1a: cheap, and even enough to fill the parts alike. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}
