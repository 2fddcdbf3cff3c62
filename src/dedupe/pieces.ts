const PIECE_BITS = 10;

/** How many positions a piece has. */
export const PIECE_SIZE: number = 1 << PIECE_BITS;

/**
 * What belongs to positions, in pieces of a thousand, each made when the first of its positions is used. An array that grows copies
 * itself, and with a million entries the process stops for that.
 */
export class Pieces<P> {
  readonly #pieces: P[] = [];
  readonly #create: () => P;

  constructor(create: () => P) {
    this.#create = create;
  }

  /** The piece of a position. */
  of(position: number): P {
    const known = this.#pieces[position >>> PIECE_BITS];
    if (known !== undefined) return known;
    const piece = this.#create();
    this.#pieces[position >>> PIECE_BITS] = piece;
    return piece;
  }
}

/** Where a position is in its piece. */
export function placeOf(position: number): number {
  return position & (PIECE_SIZE - 1);
}
