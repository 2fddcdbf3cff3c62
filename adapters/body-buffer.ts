import { RequestError } from '../src/errors.ts';
import { messageOf } from '../src/foreign-values.ts';
import type { BodyOptions } from '../src/request/delivery.ts';

const FIRST_BYTES = 1_024;
const EMPTY = Buffer.alloc(0);

/**
 * Collects the chunks of a body in one buffer, and reports how much memory that takes. A sender may cut its
 * body into chunks of one byte. Each of them is an object of some 200 bytes, and keeps in memory everything
 * that was read from the socket with it. So chunks are copied, and a body takes at most twice its size.
 */
export class BodyBuffer {
  readonly #expectedBytes: number;
  readonly #onProgress: BodyOptions['onProgress'];
  #buffer: Buffer = EMPTY;
  #length = 0;

  /** The buffer doubles when it is full, up to `expectedBytes`; beyond them it grows by each chunk. */
  constructor(expectedBytes: number, onProgress: BodyOptions['onProgress']) {
    this.#expectedBytes = expectedBytes;
    this.#onProgress = onProgress;
  }

  /** The number of bytes that were added. */
  get length(): number {
    return this.#length;
  }

  add(chunk: Uint8Array): void {
    const neededBytes = this.#length + chunk.length;
    if (neededBytes > this.#buffer.length) this.#grow(neededBytes);
    this.#buffer.set(chunk, this.#length);
    this.#length = neededBytes;
    this.#onProgress?.(this.#buffer.length);
  }

  #grow(neededBytes: number): void {
    const doubledBytes = Math.max(2 * this.#buffer.length, FIRST_BYTES);
    const roomBytes = Math.min(doubledBytes, this.#expectedBytes);
    const grown = Buffer.allocUnsafeSlow(Math.max(neededBytes, roomBytes));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }

  /** Returns what was added, and lets go of it. */
  take(): Buffer {
    const bytes = this.#buffer.subarray(0, this.#length);
    this.#buffer = EMPTY;
    this.#length = 0;
    return bytes;
  }
}

/** The error for a body over the limit. */
export function tooLarge(maxBytes: number, cause?: unknown): RequestError {
  return new RequestError('body_too_large', `the body has more than maxBodyBytes (${maxBytes})`, { cause });
}

/** The error for a body whose end did not come. */
export function incomplete(cause: unknown): RequestError {
  return new RequestError('body_incomplete', `the body was cut short: ${messageOf(cause)}`, { cause });
}
