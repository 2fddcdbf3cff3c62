import { RequestError } from '../src/errors.ts';
import { messageOf } from '../src/foreign-values.ts';
import type { BodyOptions } from '../src/request/delivery.ts';

const FIRST_BLOCK_BYTES = 1_024;
const MOST_BLOCK_BYTES = 65_536;

/**
 * Collects the chunks of a body in blocks of memory, and reports how much these take. A sender may cut its
 * body into chunks of one byte. Each of them is an object of some 200 bytes, and keeps in memory everything
 * that was read from the socket with it. So chunks are copied, and a small body takes at most twice its size,
 * a large one 64 KiB more.
 */
export class BodyBuffer {
  readonly #maxBytes: number;
  readonly #onProgress: BodyOptions['onProgress'];
  #blocks: Buffer[] = [];
  #heldBytes = 0;
  /** The number of bytes that are free at the end of the last block. */
  #freeBytes = 0;

  /** Blocks are made in advance of their bytes up to `maxBytes`; more can be added. */
  constructor({ maxBytes, onProgress }: Pick<BodyOptions, 'maxBytes' | 'onProgress'>) {
    this.#maxBytes = maxBytes;
    this.#onProgress = onProgress;
  }

  /** The number of bytes that were added. */
  get length(): number {
    return this.#heldBytes - this.#freeBytes;
  }

  add(chunk: Uint8Array): void {
    const fittingBytes = this.#freeBytes;
    if (chunk.length <= fittingBytes) {
      this.#append(chunk);
    } else {
      this.#append(chunk.subarray(0, fittingBytes));
      this.#addBlock(chunk.length - fittingBytes);
      this.#append(chunk.subarray(fittingBytes));
    }
    this.#onProgress?.(this.#heldBytes);
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

  /** Returns what was added, in its order, and lets go of it. */
  take(): Buffer[] {
    const blocks = this.#blocks;
    const last = blocks.pop();
    if (last !== undefined) blocks.push(last.subarray(0, last.length - this.#freeBytes));
    this.#blocks = [];
    this.#heldBytes = 0;
    this.#freeBytes = 0;
    return blocks;
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
