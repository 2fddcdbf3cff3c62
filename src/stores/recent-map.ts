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

/** What a part knows of an id by numbers, at three times its position. */
const UNTIL = 0;
/** What is remembered is linked in the order of its use; NONE stands between the newest and the oldest. A held one is its own neighbour. */
const NEWER = 1;
const OLDER = 2;
const NUMBERS = 3;

class Part<V> {
  readonly #mostRemembered: number;
  readonly #table = new IdTable();
  #remembered = 0;
  readonly #values: (V | undefined)[] = [undefined];
  /** All three side by side, so that an id which no cache holds is fetched once. */
  #numbers = new Float64Array(NUMBERS);

  constructor(mostRemembered: number) {
    this.#mostRemembered = mostRemembered;
  }

  get(id: string, hash: number, now: number): V | undefined {
    const position = this.#table.find(id, hash);
    if (position === NONE) return undefined;
    if (this.#at(position, UNTIL) <= now) {
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
    this.#put(position, UNTIL, until);
  }

  remember(id: string, hash: number, value: V, until: number, now: number): void {
    const position = this.#hold(id, hash);
    this.#makeRoom(now);
    this.#values[position] = value;
    this.#put(position, UNTIL, until);
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
    this.#put(position, NEWER, position);
    return position;
  }

  #add(id: string, hash: number): number {
    const position = this.#table.add(id, hash);
    if (position * NUMBERS >= this.#numbers.length) this.#grow(Math.ceil(1.25 * position));
    return position;
  }

  #isRemembered(position: number): boolean {
    return this.#at(position, NEWER) !== position;
  }

  /** Makes room for one, and drops up to two that are over: what is remembered for a time takes no more room than that time needs. */
  #makeRoom(now: number): void {
    for (let dropped = 0; dropped < 2; dropped += 1) {
      const oldest = this.#at(NONE, NEWER);
      if (oldest === NONE) return;
      if (this.#remembered < this.#mostRemembered && this.#at(oldest, UNTIL) > now) return;
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
    const newest = this.#at(NONE, OLDER);
    this.#put(position, OLDER, newest);
    this.#put(position, NEWER, NONE);
    this.#put(newest, NEWER, position);
    this.#put(NONE, OLDER, position);
  }

  #unlink(position: number): void {
    const newer = this.#at(position, NEWER);
    const older = this.#at(position, OLDER);
    this.#put(older, NEWER, newer);
    this.#put(newer, OLDER, older);
  }

  #at(position: number, which: number): number {
    return this.#numbers[position * NUMBERS + which] ?? 0;
  }

  #put(position: number, which: number, value: number): void {
    this.#numbers[position * NUMBERS + which] = value;
  }

  #grow(positions: number): void {
    const numbers = new Float64Array(positions * NUMBERS);
    numbers.set(this.#numbers);
    this.#numbers = numbers;
  }
}
