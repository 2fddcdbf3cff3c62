const FIRST_BYTES = 1_024;

/**
 * Small chunks, copied into one buffer. A sender may cut its body into chunks of one byte: each is an object
 * of some 200 bytes, and keeps in memory everything that was read from the socket with it.
 */
export class GrowingBuffer {
  readonly #maxBytes: number;
  #buffer: Buffer = Buffer.alloc(0);
  #length = 0;

  /** Room is made in advance up to `maxBytes`; more can be added. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The number of bytes that were added. */
  get length(): number {
    return this.#length;
  }

  /** The number of bytes in memory. */
  get heldBytes(): number {
    return this.#buffer.length;
  }

  add(chunk: Uint8Array): void {
    const neededBytes = this.#length + chunk.length;
    if (neededBytes > this.#buffer.length) {
      const roomyBytes = Math.min(Math.max(2 * this.#buffer.length, FIRST_BYTES), this.#maxBytes);
      const grown = Buffer.allocUnsafeSlow(Math.max(neededBytes, roomyBytes));
      this.#buffer.copy(grown, 0, 0, this.#length);
      this.#buffer = grown;
    }
    this.#buffer.set(chunk, this.#length);
    this.#length = neededBytes;
  }

  /** Returns what was added, and starts anew. */
  take(): Buffer {
    const bytes = this.#buffer.subarray(0, this.#length);
    this.#buffer = Buffer.alloc(0);
    this.#length = 0;
    return bytes;
  }
}
