import { randomInt } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/**
 * The size of one cache. It stops the process while its Map is rebuilt as it grows: for a few milliseconds,
 * but one of a million ids for more than a tenth of a second (`bench/memory/heap.js`).
 */
const IDS_PER_CACHE = 131_072;

/** The size that a cache begins with. */
const FIRST_IDS_PER_CACHE = 256;

/** A sweep for expired ids follows after this many ids were added. */
const IDS_PER_SWEEP = 64;

/** A sweep forgets at most this many ids: more than were added, so that expired ids become fewer. */
const MAX_FORGOTTEN_PER_SWEEP = 2 * IDS_PER_SWEEP;

/**
 * The entry of an id: the time when it expires, or a record with that time. A number takes the least memory.
 */
export type Remembered<R extends { readonly expiresAt: number }> = number | R;

/**
 * Remembers ids until their time is over, and forgets the least recently used ones when there are too many. A
 * clock that is injected into lru-cache moves the ends of its times, so the times are kept as values.
 */
export class RecentIds<R extends { readonly expiresAt: number }> {
  /**
   * One cache, or several of the same size if `maxEntries` is large. Each begins small, because lru-cache
   * fills lists of its full length at once, which most processes never need.
   */
  readonly #caches: LRUCache<string, Remembered<R>>[];
  readonly #maxPerCache: number;
  /**
   * An odd number that no sender knows. It is created late, because Cloudflare Workers gives no random
   * numbers before its first request.
   */
  #multiplier: number | undefined;
  #added = 0;

  constructor(maxEntries: number) {
    const count = Math.ceil(maxEntries / IDS_PER_CACHE);
    this.#maxPerCache = Math.ceil(maxEntries / count);
    const max = Math.min(FIRST_IDS_PER_CACHE, this.#maxPerCache);
    this.#caches = Array.from({ length: count }, () => new LRUCache({ max }));
  }

  /** Returns the entry of an id, and counts as a use of it. */
  get(id: string, now: number): Remembered<R> | undefined {
    const cache = this.#caches[this.#indexFor(id)];
    const remembered = cache?.get(id);
    if (remembered === undefined || expiryOf(remembered) > now) return remembered;
    cache?.delete(id);
    return undefined;
  }

  set(id: string, remembered: Remembered<R>, now: number): void {
    const cache = this.#cacheWithRoom(this.#indexFor(id));
    cache.set(id, remembered);
    this.#added += 1;
    if (this.#added % IDS_PER_SWEEP === 0) forgetExpired(cache, now);
  }

  delete(id: string): void {
    this.#caches[this.#indexFor(id)]?.delete(id);
  }

  #cacheWithRoom(index: number): LRUCache<string, Remembered<R>> {
    const cache = this.#caches[index];
    const isGrown = cache?.max === this.#maxPerCache;
    if (cache !== undefined && (isGrown || cache.size < cache.max)) return cache;
    const larger = new LRUCache<string, Remembered<R>>({ max: this.#maxPerCache });
    if (cache !== undefined) larger.load(cache.dump());
    this.#caches[index] = larger;
    return larger;
  }

  /**
   * Chooses by a hash with a random multiplier, so that no sender can choose ids that all fall into one
   * cache. A random first value would not do: ids that collide for one such value collide for every 256th.
   */
  #indexFor(id: string): number {
    if (this.#caches.length === 1) return 0;
    this.#multiplier ??= 2 * randomInt(2 ** 31) + 1;
    let hash = 0;
    for (let index = 0; index < id.length; index += 1) {
      hash = Math.imul(hash ^ id.charCodeAt(index), this.#multiplier);
    }
    // The upper bits choose, and the multiplier may be too small to let the last characters reach them.
    const mixed = Math.imul(hash ^ (hash >>> 16), 0x9e3779b1) >>> 0;
    return Math.floor((mixed / 2 ** 32) * this.#caches.length);
  }
}

/**
 * With a fixed retention, ids take only the memory that this retention needs, however large `maxEntries` is.
 */
function forgetExpired<R extends { readonly expiresAt: number }>(
  cache: LRUCache<string, Remembered<R>>,
  now: number,
): void {
  let forgotten = 0;
  for (const id of cache.rkeys()) {
    const remembered = cache.peek(id);
    if (forgotten === MAX_FORGOTTEN_PER_SWEEP || remembered === undefined || expiryOf(remembered) > now)
      return;
    cache.delete(id);
    forgotten += 1;
  }
}

function expiryOf<R extends { readonly expiresAt: number }>(remembered: Remembered<R>): number {
  return typeof remembered === 'number' ? remembered : remembered.expiresAt;
}
