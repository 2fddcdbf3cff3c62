import { finished, Readable } from 'node:stream';
import type { BodyOptions } from '../src/request/delivery.ts';
import { GrowingBuffer } from './growing-buffer.ts';

/**
 * A chunk of at least this size is passed on as it is, unless it keeps much more memory alive. Other chunks
 * are copied into one buffer.
 */
const LARGE_CHUNK_BYTES = 16_384;

/** The buffer is passed on when it holds this many bytes. */
const PIECE_BYTES = 65_536;

/**
 * The body of a request in larger pieces. A sender may cut its body into chunks or DATA frames of one byte,
 * and raw-body keeps a list of them. So small chunks are copied into one growing buffer, and a body takes at
 * most a few times its size.
 */
export class BodyPieces extends Readable {
  readonly #source: Readable;
  readonly #maxBytes: number;
  readonly #onProgress: BodyOptions['onProgress'];
  readonly #stopWatching: () => void;
  /** The number of bytes that were passed on. */
  #pushedBytes = 0;
  readonly #buffer: GrowingBuffer;

  /**
   * Once more than `maxBytes` have arrived, they are passed on at once, so that
   * the reader sees that there are too many.
   */
  constructor(source: Readable, { maxBytes, signal, onProgress }: BodyOptions) {
    super({ signal });
    this.#source = source;
    this.#maxBytes = maxBytes;
    this.#onProgress = onProgress;
    this.#buffer = new GrowingBuffer(maxBytes);
    // The signal may abort after the reader has its result, and no longer listens for errors.
    this.on('error', () => {});
    this.#stopWatching = finished(source, { writable: false }, (error) => {
      if (error) this.destroy(error);
      else this.#end();
    });
    source.on('data', this.#add).resume();
  }

  override _read(): void {
    // The source flows until its end, or until this stream is destroyed.
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#stopWatching();
    this.#source.off('data', this.#add).pause();
    this.#buffer.take();
    done(error);
  }

  readonly #add = (chunk: Buffer): void => {
    if (isWorthKeeping(chunk)) {
      this.#flush();
      this.#push(chunk);
    } else this.#buffer.add(chunk);
    const arrivedBytes = this.#pushedBytes + this.#buffer.length;
    if (this.#buffer.length >= PIECE_BYTES || arrivedBytes > this.#maxBytes) this.#flush();
    this.#onProgress?.(this.#pushedBytes + this.#buffer.heldBytes);
  };

  #flush(): void {
    if (this.#buffer.length > 0) this.#push(this.#buffer.take());
  }

  #push(piece: Buffer): void {
    this.#pushedBytes += piece.length;
    this.push(piece);
  }

  #end(): void {
    this.#flush();
    this.push(null);
  }
}

/**
 * Returns true if a chunk is large, and at least half of the memory that it keeps alive. An HTTP/2 DATA frame
 * is a slice of up to 64 KiB that were read from the socket, and the rest of the slice may be other frames.
 */
function isWorthKeeping({ length, buffer }: Buffer): boolean {
  return length >= LARGE_CHUNK_BYTES && buffer.byteLength <= 2 * length;
}
