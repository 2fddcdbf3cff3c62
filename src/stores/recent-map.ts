import { hashOf, IdTable, NONE } from '../id-table.ts';

/**
 * What a larger part outgrows is so large that V8 keeps it apart: freeing that of all parts, which grow at about the same time, stops
 * the process for 40 ms. Tables double: below a power of two there is room for what is held.
 */
const MOST_IN_PART = 8_000;

/**
 * Keeps a value for each id until a time, and forgets the least recently used one when it is full. Values that are held come on top.
 * A large one consists of parts, each of which forgets for itself, so that it may have a little less than `mostRemembered`
 * before it forgets.
 */
export class RecentMap<V> {
  readonly #parts: readonly Part<V>[];

  constructor(mostRemembered: number) {
    const count = Math.ceil(mostRemembered / MOST_IN_PART);
    const mostInPart = Math.ceil(mostRemembered / count);
    this.#parts = Array.from({ length: count }, () => new Part<V>(mostInPart));
  }

  /** The value of an id, which counts as used; undefined once its time is over. */
  get(id: string, now: number): V | undefined {
    const hash = hashOf(id);
    return this.#partOf(hash).get(id, hash, now);
  }

  /** Keeps a value that is not to be forgotten before its time. */
  hold(id: string, value: V, until: number): void {
    const hash = hashOf(id);
    this.#partOf(hash).hold(id, hash, value, until);
  }

  /** Keeps a value that may be forgotten to make room. */
  remember(id: string, value: V, until: number, now: number): void {
    const hash = hashOf(id);
    this.#partOf(hash).remember(id, hash, value, until, now);
  }

  #partOf(hash: number): Part<V> {
    // By the highest bits: the tables of the parts go by the lowest.
    const index = Math.floor(((hash >>> 0) / 2 ** 32) * this.#parts.length);
    // An index below the length always has its part.
    return this.#parts[index] as Part<V>;
  }
}

/** What is remembered is linked in the order of its use; NONE stands between the newest and the oldest. */
class Part<V> {
  readonly #mostRemembered: number;
  readonly #table = new IdTable();
  #remembered = 0;
  readonly #values: (V | undefined)[] = [undefined];
  #untils = new Float64Array(1);
  /** A held one is its own neighbour. */
  #newer = new Int32Array(1);
  #older = new Int32Array(1);

  constructor(mostRemembered: number) {
    this.#mostRemembered = mostRemembered;
  }

  get(id: string, hash: number, now: number): V | undefined {
    const position = this.#table.find(id, hash);
    if (position === NONE) return undefined;
    if (at(this.#untils, position) <= now) {
      this.#remove(position);
      return undefined;
    }
    if (this.#isRemembered(position)) {
      this.#unlink(position);
      this.#link(position);
    }
    return this.#values[position];
  }

  hold(id: string, hash: number, value: V, until: number): void {
    const position = this.#hold(id, hash);
    this.#values[position] = value;
    this.#untils[position] = until;
  }

  remember(id: string, hash: number, value: V, until: number, now: number): void {
    const position = this.#hold(id, hash);
    this.#makeRoom(now);
    this.#values[position] = value;
    this.#untils[position] = until;
    this.#link(position);
    this.#remembered += 1;
  }

  /** The position of an id, where nothing forgets it. */
  #hold(id: string, hash: number): number {
    const known = this.#table.find(id, hash);
    const position = known === NONE ? this.#add(id, hash) : known;
    if (known !== NONE && this.#isRemembered(known)) {
      this.#unlink(known);
      this.#remembered -= 1;
    }
    this.#newer[position] = position;
    return position;
  }

  #add(id: string, hash: number): number {
    const position = this.#table.add(id, hash);
    if (position >= this.#untils.length) this.#grow(2 * position);
    return position;
  }

  #isRemembered(position: number): boolean {
    return at(this.#newer, position) !== position;
  }

  /** Makes room for one, and drops up to two that are over: what is remembered for a time takes no more room than that time needs. */
  #makeRoom(now: number): void {
    for (let dropped = 0; dropped < 2; dropped += 1) {
      const oldest = at(this.#newer, NONE);
      if (oldest === NONE) return;
      if (this.#remembered < this.#mostRemembered && at(this.#untils, oldest) > now) return;
      this.#remove(oldest);
    }
  }

  #remove(position: number): void {
    if (this.#isRemembered(position)) {
      this.#unlink(position);
      this.#remembered -= 1;
    }
    this.#values[position] = undefined;
    this.#table.remove(position);
  }

  /** Makes it the newest. */
  #link(position: number): void {
    const newest = at(this.#older, NONE);
    this.#older[position] = newest;
    this.#newer[position] = NONE;
    this.#newer[newest] = position;
    this.#older[NONE] = position;
  }

  #unlink(position: number): void {
    const newer = at(this.#newer, position);
    const older = at(this.#older, position);
    this.#newer[older] = newer;
    this.#older[newer] = older;
  }

  #grow(length: number): void {
    this.#untils = copyOf(this.#untils, new Float64Array(length));
    this.#newer = copyOf(this.#newer, new Int32Array(length));
    this.#older = copyOf(this.#older, new Int32Array(length));
  }
}

function at(numbers: Int32Array | Float64Array, index: number): number {
  return numbers[index] ?? 0;
}

function copyOf<Numbers extends Int32Array | Float64Array>(from: Numbers, to: Numbers): Numbers {
  to.set(from);
  return to;
}
