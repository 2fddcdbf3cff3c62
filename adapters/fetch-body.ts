import { ConfigurationError } from '../src/errors.ts';
import type { BodyOptions, Reply } from '../src/request/delivery.ts';
import { type RawBody, toBytes } from '../src/request/raw-body.ts';
import { BodyBuffer, incomplete, tooLarge } from './body-buffer.ts';
import type { FetchBodyReader, FetchRequest } from './fetch-request.ts';
import { LINGER_BYTES, LINGER_MS } from './lingering.ts';
import { passTurn } from './pass-turn.ts';

/**
 * A stream whose chunks are in memory settles its reads as microtasks: no timer runs before it has ended. So
 * a turn is passed now and then while `maxBytes` ends nothing: over a rest that is dropped, and over empty
 * chunks. A body that grows is read as fast as it comes, because unread chunks take more memory than it.
 */
const CHUNKS_PER_TURN = 64;

/** The body of a web Request, which is not touched until it is read: some runtimes prepare it only then. */
export class FetchBody {
  readonly #request: FetchRequest;
  #reader: FetchBodyReader | undefined;
  #hasEnded = false;
  #chunks = 0;
  #mostDroppedBytes = LINGER_BYTES;

  constructor(request: FetchRequest) {
    this.#request = request;
  }

  /** Reads the body, byte for byte. */
  async read(options: BodyOptions): Promise<Uint8Array> {
    if (this.#isUsed) throw alreadyParsed();
    const reader = this.#open();
    // A connection is kept for a rest of a declared length up to this.
    this.#mostDroppedBytes = Math.max(LINGER_BYTES, options.maxBytes);
    const buffer = new BodyBuffer(options.maxBytes, options.onProgress);
    if (reader === undefined) return buffer.take();
    // The next chunk may never come.
    options.signal.addEventListener('abort', () => buffer.take());
    for (;;) {
      const { done, value } = await this.#next(reader);
      options.signal.throwIfAborted();
      if (done) return buffer.take();
      addChunk(buffer, value ?? '', options.maxBytes);
      if (sizeOf(value) === 0) await this.#passTurnInTime();
    }
  }

  /**
   * Reads and drops the rest of a body that was read in part, so that its connection can serve the next
   * request; one that is to be closed is read in any case, because closing a socket that holds unread bytes
   * resets it, and the reset can overtake the answer. Undefined if nothing is read.
   */
  dropRest({ close, drainMs }: Reply): Promise<void> | undefined {
    if (this.#reader === undefined && close && !this.#isUsed) this.#open();
    const reader = this.#reader;
    return reader === undefined || this.#hasEnded
      ? undefined
      : this.#drop(reader, close ? LINGER_MS : drainMs);
  }

  get #isUsed(): boolean {
    return this.#request.bodyUsed || this.#request.body?.locked === true;
  }

  #open(): FetchBodyReader | undefined {
    this.#reader = this.#request.body?.getReader();
    return this.#reader;
  }

  async #drop(reader: FetchBodyReader, timeLimitMs: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeLimitMs);
    });
    await Promise.race([this.#readRest(reader), late]);
    clearTimeout(timer);
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    // A stream of the application may fail to cancel.
    reader.cancel().catch(() => {});
  }

  async #readRest(reader: FetchBodyReader): Promise<void> {
    try {
      for (let bytes = 0; !this.#hasEnded && bytes <= this.#mostDroppedBytes; ) {
        bytes += sizeOf((await this.#next(reader)).value);
        await this.#passTurnInTime();
      }
    } catch {
      // The sender gave up.
    }
  }

  async #passTurnInTime(): Promise<void> {
    this.#chunks += 1;
    if (this.#chunks % CHUNKS_PER_TURN === 0) await passTurn();
  }

  async #next(reader: FetchBodyReader): ReturnType<FetchBodyReader['read']> {
    try {
      const result = await reader.read();
      this.#hasEnded ||= result.done;
      return result;
    } catch (cause) {
      this.#hasEnded = true;
      throw incomplete(cause);
    }
  }
}

function sizeOf(chunk: RawBody = ''): number {
  return typeof chunk === 'string' ? chunk.length : chunk.byteLength;
}

function addChunk(buffer: BodyBuffer, value: RawBody, maxBytes: number): void {
  const chunk = toBytes(value, 'each chunk of a body');
  if (buffer.length + chunk.length > maxBytes) throw tooLarge(maxBytes);
  buffer.add(chunk);
}

function alreadyParsed(): ConfigurationError {
  return new ConfigurationError(
    'the body was read before posthorn could verify it: hand over the request (c.req.raw in Hono) before anything ' +
      'calls its json(), text() or formData(), and let no validator or body parser run on this route; a middleware ' +
      'that needs the body reads request.clone()',
    { code: 'body_already_parsed' },
  );
}
