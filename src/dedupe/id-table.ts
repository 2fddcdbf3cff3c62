import { HashIndex, NO_SLOT } from './hash-index.ts';
import { PIECE_SIZE, Pieces, placeOf } from './pieces.ts';

/** The position of no id. */
export const NONE = 0;

/**
 * An index of this size grows in a millisecond or two. They double: a little below a power of two there is room for those that get
 * more than their share.
 */
const IDS_PER_INDEX = 60_000;

interface Piece {
  readonly ids: string[];
  /** The hash of an id; of a position that is free again, the next one that is. */
  readonly hashes: Int32Array;
}

/**
 * Gives each id a position of its own, a small whole number from 1 on, for as long as it is in the table: what belongs to an id lies
 * in arrays, at its position. The position that became free last is given again first, so that what comes and goes stays close in
 * memory.
 *
 * Where ids come and go a Map copies itself again and again, and what it has outgrown keeps what was deleted from it for the next
 * collection of all garbage; and where no cache holds it, it follows a chain of ids to each one that it looks for.
 */
export class IdTable {
  /** The highest position that was ever given. */
  #given = 0;
  #free = NONE;
  readonly #pieces = new Pieces(createPiece);
  readonly #indexes: readonly HashIndex[];

  /** `most` is how many ids are expected at once. */
  constructor(most: number = IDS_PER_INDEX) {
    const count = Math.ceil(most / IDS_PER_INDEX);
    this.#indexes = Array.from({ length: count }, () => new HashIndex());
  }

  /** The position of an id, or {@link NONE}. */
  find(id: string, hash: number = hashOf(id)): number {
    const index = this.#indexOf(hash);
    for (let slot = index.first(hash); slot !== NO_SLOT; slot = index.next(hash, slot)) {
      const position = index.positionAt(slot);
      if (this.#pieces.of(position).ids[placeOf(position)] === id) return position;
    }
    return NONE;
  }

  /** Takes in an id that is not in the table. */
  add(id: string, hash: number = hashOf(id)): number {
    const position = this.#take();
    this.#put(position, id, hash);
    this.#indexOf(hash).add(position, hash);
    return position;
  }

  /** Takes out the id of a position that it has. */
  remove(position: number): void {
    const hash = this.#hashAt(position);
    this.#indexOf(hash).remove(position, hash);
    this.#put(position, '', this.#free);
    this.#free = position;
  }

  #take(): number {
    const position = this.#free;
    if (position === NONE) {
      this.#given += 1;
      return this.#given;
    }
    this.#free = this.#hashAt(position);
    return position;
  }

  #hashAt(position: number): number {
    return this.#pieces.of(position).hashes[placeOf(position)] ?? 0;
  }

  #put(position: number, id: string, hash: number): void {
    const { ids, hashes } = this.#pieces.of(position);
    const place = placeOf(position);
    ids[place] = id;
    hashes[place] = hash;
  }

  #indexOf(hash: number): HashIndex {
    // By the highest bits: an index goes by the lowest.
    const number = Math.floor(((hash >>> 0) / 2 ** 32) * this.#indexes.length);
    // A number below the length always has its index.
    return this.#indexes[number] as HashIndex;
  }
}

function createPiece(): Piece {
  return { ids: new Array<string>(PIECE_SIZE).fill(''), hashes: new Int32Array(PIECE_SIZE) };
}

let lastId: string | undefined;
let lastHash = 0;

/**
 * The hash that a table looks for, in 32 bits that may be negative: FNV-1a, which is cheap, and a last step that spreads its weak low
 * bits. An id is mostly asked for several times in a row.
 */
export function hashOf(id: string): number {
  if (id === lastId) return lastHash;
  let hash = 0x811c9dc5 | 0;
  for (let index = 0; index < id.length; index += 1) {
    hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x9e3779b1);
  lastId = id;
  lastHash = hash ^ (hash >>> 15);
  return lastHash;
}
