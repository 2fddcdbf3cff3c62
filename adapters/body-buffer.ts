import { RequestError } from '../src/receiver/errors.ts';
import type { BodyOptions } from '../src/receiver/request/delivery.ts';
import { messageOf } from '../src/receiver/values/foreign-values.ts';

const FIRST_BLOCK_BYTES = 1_024;
const MOST_BLOCK_BYTES = 65_536;

/** A chunk of at least this size is kept as it is, unless it keeps much more memory alive. */
const LARGE_CHUNK_BYTES = 16_384;

/**
 * Collects the chunks of a body in blocks of memory, and reports how much these take. A sender may cut its
 * body into chunks of one byte. Each of them is an object of some 200 bytes, and keeps in memory everything
 * that was read from the socket with it. So small chunks are copied, and a body takes at most a few times its
 * size.
 */
export class BodyBuffer {
  readonly #maxBytes: number;
  readonly #onProgress: BodyOptions['onProgress'];
  #blocks: Buffer[] = [];
  #length = 0;
  #heldBytes = 0;
  /** The number of bytes that are free at the end of the last block. */
  #freeBytes = 0;

  /** Makes blocks in advance up to `maxBytes`. It takes more than that too: the caller refuses it. */
  constructor({ maxBytes, onProgress }: Pick<BodyOptions, 'maxBytes' | 'onProgress'>) {
    this.#maxBytes = maxBytes;
    this.#onProgress = onProgress;
  }

  /** The number of bytes that were added. */
  get length(): number {
    return this.#length;
  }

  add(chunk: Uint8Array): void {
    this.#length += chunk.length;
    if (isWorthKeeping(chunk)) this.#keep(chunk);
    else this.#copy(chunk);
    this.#onProgress?.(this.#heldBytes);
  }

  #keep({ buffer, byteOffset, length }: Uint8Array): void {
    this.#endBlock();
    this.#blocks.push(Buffer.from(buffer, byteOffset, length));
    this.#heldBytes += length;
  }

  #copy(chunk: Uint8Array): void {
    const fittingBytes = this.#freeBytes;
    if (chunk.length <= fittingBytes) {
      this.#append(chunk);
    } else {
      this.#append(chunk.subarray(0, fittingBytes));
      this.#addBlock(chunk.length - fittingBytes);
      this.#append(chunk.subarray(fittingBytes));
    }
  }

  #append(bytes: Uint8Array): void {
    const block = this.#blocks.at(-1);
    block?.set(bytes, block.length - this.#freeBytes);
    this.#freeBytes -= bytes.length;
  }

  /** Adds as much as there is already, within the limits, but at least the given number of bytes. */
  #addBlock(leastBytes: number): void {
    const doublingBytes = Math.max(this.#heldBytes, FIRST_BLOCK_BYTES);
    const roomBytes = Math.min(doublingBytes, MOST_BLOCK_BYTES, this.#maxBytes - this.#heldBytes);
    const block = Buffer.allocUnsafeSlow(Math.max(leastBytes, roomBytes));
    this.#blocks.push(block);
    this.#heldBytes += block.length;
    this.#freeBytes = block.length;
  }

  /** Nothing more is added to the last block. */
  #endBlock(): void {
    const last = this.#blocks.pop();
    if (last !== undefined) this.#blocks.push(last.subarray(0, last.length - this.#freeBytes));
    this.#freeBytes = 0;
  }

  /** Returns the bytes that were added, in their order, and forgets them. */
  take(): Buffer[] {
    this.#endBlock();
    const blocks = this.#blocks;
    this.#blocks = [];
    this.#length = 0;
    this.#heldBytes = 0;
    return blocks;
  }
}

/**
 * Returns true if a chunk is large, and at least half of the memory that it keeps alive. An HTTP/2 DATA frame
 * is a slice of up to 64 KiB that were read from the socket, and the rest of the slice may be other frames.
 */
function isWorthKeeping({ length, buffer }: Uint8Array): boolean {
  return length >= LARGE_CHUNK_BYTES && buffer.byteLength <= 2 * length;
}

/** The error for a body over the limit. */
export function tooLarge(maxBytes: number, cause?: unknown): RequestError {
  return new RequestError('body_too_large', `the body has more than maxBodyBytes (${maxBytes})`, { cause });
}

/** The error for a body whose end did not come. */
export function incomplete(cause: unknown): RequestError {
  return new RequestError('body_incomplete', `the body was cut short: ${messageOf(cause)}`, { cause });
}
