/** No slot has this number. */
export const NO_SLOT = -1;

const FIRST_SLOTS = 128;

/** The position in a slot that is free. */
const FREE = 0;

/**
 * Finds positions, whole numbers from 1 on, by a hash: a table with open addressing, in numbers that the garbage collector does not
 * look into. Looking for a hash that it has not mostly takes one look at memory.
 */
export class HashIndex {
  #count = 0;
  /** Position and hash by turns. At most half of the slots are taken, so that a free one is near. */
  #slots = new Int32Array(2 * FIRST_SLOTS);
  #mask = FIRST_SLOTS - 1;

  /** The first slot with a hash, or {@link NO_SLOT}. */
  first(hash: number): number {
    return this.#search(hash, this.#homeOf(hash));
  }

  /** The slot with the same hash that comes after one, or {@link NO_SLOT}. */
  next(hash: number, slot: number): number {
    return this.#search(hash, this.#after(slot));
  }

  /** What a slot that was found holds. */
  positionAt(slot: number): number {
    return this.#slots[2 * slot] ?? FREE;
  }

  /** Takes in a position that it has not. */
  add(position: number, hash: number): void {
    if (2 * this.#count > this.#mask) this.#grow();
    this.#count += 1;
    this.#enter(position, hash);
  }

  /** Takes out a position that it has with this hash, and moves up what would no longer be found behind the gap. */
  remove(position: number, hash: number): void {
    let gap = this.#homeOf(hash);
    while (this.positionAt(gap) !== position) gap = this.#after(gap);
    for (let slot = this.#after(gap); this.positionAt(slot) !== FREE; slot = this.#after(slot)) {
      const fromHome = (slot - this.#homeOf(this.#hashAt(slot))) & this.#mask;
      if (fromHome < ((slot - gap) & this.#mask)) continue;
      this.#put(gap, this.positionAt(slot), this.#hashAt(slot));
      gap = slot;
    }
    this.#put(gap, FREE, 0);
    this.#count -= 1;
  }

  #search(hash: number, from: number): number {
    for (let slot = from; ; slot = this.#after(slot)) {
      if (this.positionAt(slot) === FREE) return NO_SLOT;
      if (this.#hashAt(slot) === hash) return slot;
    }
  }

  #enter(position: number, hash: number): void {
    let slot = this.#homeOf(hash);
    while (this.positionAt(slot) !== FREE) slot = this.#after(slot);
    this.#put(slot, position, hash);
  }

  #grow(): void {
    const slots = this.#slots;
    this.#slots = new Int32Array(2 * slots.length);
    this.#mask = slots.length - 1;
    for (let pair = 0; pair < slots.length; pair += 2) {
      const position = slots[pair] ?? FREE;
      if (position !== FREE) this.#enter(position, slots[pair + 1] ?? 0);
    }
  }

  /** Where the search for a hash begins. */
  #homeOf(hash: number): number {
    return hash & this.#mask;
  }

  #after(slot: number): number {
    return (slot + 1) & this.#mask;
  }

  #hashAt(slot: number): number {
    return this.#slots[2 * slot + 1] ?? 0;
  }

  #put(slot: number, position: number, hash: number): void {
    this.#slots[2 * slot] = position;
    this.#slots[2 * slot + 1] = hash;
  }
}
