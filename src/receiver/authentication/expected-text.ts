import { timingSafeEqual } from 'node:crypto';

/** A secret text. Compares other texts to it in constant time, without a new buffer for each comparison. */
export class ExpectedText {
  readonly #expected: Buffer;
  readonly #given: Buffer;

  constructor(text: string) {
    // JavaScript strings are UTF-16: different texts of one length fill the buffer with different bytes.
    this.#expected = Buffer.from(text, 'utf16le');
    this.#given = Buffer.alloc(this.#expected.length);
  }

  /** The time taken reveals only the length of the secret. */
  equals(text: string): boolean {
    if (2 * text.length !== this.#expected.length) return false;
    this.#given.write(text, 'utf16le');
    return timingSafeEqual(this.#given, this.#expected);
  }
}
