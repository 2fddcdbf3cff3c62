import { timingSafeEqual } from 'node:crypto';

/** A secret text to which others are compared in constant time, without a buffer made for each comparison. */
export class ExpectedText {
  readonly #expected: Buffer;
  readonly #given: Buffer;

  constructor(text: string) {
    // UTF-16 is what strings are made of: different texts of one length fill the buffer with different bytes.
    this.#expected = Buffer.from(text, 'utf16le');
    this.#given = Buffer.alloc(this.#expected.length);
  }

  /** Only the length of the secret shows in the time taken. */
  equals(text: string): boolean {
    if (2 * text.length !== this.#expected.length) return false;
    this.#given.write(text, 'utf16le');
    return timingSafeEqual(this.#given, this.#expected);
  }
}
