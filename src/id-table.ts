/** The position of no id. */
export const NONE = 0;

const FIRST_CAPACITY = 64;

/**
 * Gives each id a position of its own, a small whole number from 1 on, for as long as it is in the table: what belongs to an id lies
 * in arrays, at its position. Positions that have become free are given again.
 *
 * Where ids come and go a Map copies itself again and again, and what it has outgrown keeps what was deleted from it for the next
 * collection of all garbage; and where no cache holds it, it follows a chain of ids to each one that it looks for. This
 * is a hash table with open addressing, in numbers that the garbage collector does not look into.
 */
export class IdTable {
  #capacity = 0;
  /** The highest position that was ever given. */
  #given = 0;
  /** A position that is free again; each leads to the next by `#hashes`. */
  #free = NONE;
  readonly #ids: string[] = [''];
  #hashes = new Int32Array(1);
  /** Position and hash by turns; twice as many pairs as there are positions, so that a free one is near. */
  #slots = new Int32Array(0);
  #mask = 0;

  constructor() {
    this.#grow(FIRST_CAPACITY);
  }

  /** The position of an id, or {@link NONE}. */
  find(id: string, hash: number = hashOf(id)): number {
    for (let slot = this.#homeOf(hash); ; slot = this.#after(slot)) {
      const position = at(this.#slots, 2 * slot);
      if (position === NONE) return NONE;
      if (at(this.#slots, 2 * slot + 1) === hash && this.#ids[position] === id) return position;
    }
  }

  /** Takes in an id that is not in the table. */
  add(id: string, hash: number = hashOf(id)): number {
    const position = this.#take();
    this.#ids[position] = id;
    this.#hashes[position] = hash;
    this.#enter(position, hash);
    return position;
  }

  /** Takes out the id of a position that it has. */
  remove(position: number): void {
    this.#leave(position);
    this.#ids[position] = '';
    this.#hashes[position] = this.#free;
    this.#free = position;
  }

  #take(): number {
    const position = this.#free;
    if (position !== NONE) {
      this.#free = at(this.#hashes, position);
      return position;
    }
    if (this.#given === this.#capacity) this.#grow(2 * this.#capacity);
    this.#given += 1;
    return this.#given;
  }

  /** Where the search for a hash begins. */
  #homeOf(hash: number): number {
    return hash & this.#mask;
  }

  #enter(position: number, hash: number): void {
    let slot = this.#homeOf(hash);
    while (at(this.#slots, 2 * slot) !== NONE) slot = this.#after(slot);
    this.#slots[2 * slot] = position;
    this.#slots[2 * slot + 1] = hash;
  }

  /** Empties the slot of a position, and moves up what would no longer be found behind the gap. */
  #leave(position: number): void {
    let gap = this.#homeOf(at(this.#hashes, position));
    while (at(this.#slots, 2 * gap) !== position) gap = this.#after(gap);
    for (let slot = this.#after(gap); at(this.#slots, 2 * slot) !== NONE; slot = this.#after(slot)) {
      const hash = at(this.#slots, 2 * slot + 1);
      const fromHome = (slot - this.#homeOf(hash)) & this.#mask;
      if (fromHome < ((slot - gap) & this.#mask)) continue;
      this.#slots[2 * gap] = at(this.#slots, 2 * slot);
      this.#slots[2 * gap + 1] = hash;
      gap = slot;
    }
    this.#slots[2 * gap] = NONE;
  }

  #after(slot: number): number {
    return (slot + 1) & this.#mask;
  }

  /** Makes room for as many positions, once none is free. */
  #grow(capacity: number): void {
    const hashes = new Int32Array(capacity + 1);
    hashes.set(this.#hashes);
    this.#hashes = hashes;
    this.#slots = new Int32Array(4 * capacity);
    this.#mask = 2 * capacity - 1;
    this.#capacity = capacity;
    for (let position = 1; position <= this.#given; position += 1)
      this.#enter(position, at(hashes, position));
  }
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

function at(numbers: Int32Array, index: number): number {
  return numbers[index] ?? 0;
}
