import { IdTable, NONE } from './id-table.ts';
import { PIECE_SIZE, Pieces, placeOf } from './pieces.ts';

/** What is known of an id by numbers, at three times its place. */
const UNTIL = 0;
/** What is remembered is linked in the order of its use; NONE stands between the newest and the oldest. A held one is newer than itself. */
const NEWER = 1;
const OLDER = 2;
const NUMBERS = 3;

interface Piece<V> {
  readonly values: (V | undefined)[];
  /** All three side by side, so that an id which no cache holds is fetched once. */
  readonly numbers: Float64Array;
}

/**
 * Keeps a value for each id until a time, and forgets the least recently used one when it is full. Values that are held come on top.
 */
export class RecentMap<V> {
  readonly #mostRemembered: number;
  readonly #table: IdTable;
  readonly #pieces = new Pieces<Piece<V>>(createPiece);
  #remembered = 0;

  constructor(mostRemembered: number) {
    this.#mostRemembered = mostRemembered;
    this.#table = new IdTable(mostRemembered);
  }

  /** The value of an id, which counts as used; undefined once its time is over. */
  get(id: string, now: number): V | undefined {
    const position = this.#table.find(id);
    if (position === NONE) return undefined;
    if (this.#at(position, UNTIL) <= now) {
      this.#remove(position);
      return undefined;
    }
    if (this.#isRemembered(position)) {
      this.#unlink(position);
      this.#link(position);
    }
    return this.#pieces.of(position).values[placeOf(position)];
  }

  /** Keeps a value that is not to be forgotten before its time. */
  hold(id: string, value: V, until: number): void {
    const position = this.#hold(id);
    this.#put(position, UNTIL, until);
    this.#setValue(position, value);
  }

  /** Keeps a value that may be forgotten to make room. */
  remember(id: string, value: V, until: number, now: number): void {
    const position = this.#hold(id);
    this.#makeRoom(now);
    this.#put(position, UNTIL, until);
    this.#setValue(position, value);
    this.#link(position);
    this.#remembered += 1;
  }

  /** The position of an id, where nothing forgets it. */
  #hold(id: string): number {
    const known = this.#table.find(id);
    const position = known === NONE ? this.#table.add(id) : known;
    if (known !== NONE && this.#isRemembered(known)) {
      this.#unlink(known);
      this.#remembered -= 1;
    }
    this.#put(position, NEWER, position);
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
    this.#setValue(position, undefined);
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
    return this.#pieces.of(position).numbers[placeOf(position) * NUMBERS + which] ?? 0;
  }

  #put(position: number, which: number, value: number): void {
    this.#pieces.of(position).numbers[placeOf(position) * NUMBERS + which] = value;
  }

  #setValue(position: number, value: V | undefined): void {
    this.#pieces.of(position).values[placeOf(position)] = value;
  }
}

function createPiece<V>(): Piece<V> {
  return {
    values: new Array<V | undefined>(PIECE_SIZE).fill(undefined),
    numbers: new Float64Array(PIECE_SIZE * NUMBERS),
  };
}
