import { ConfigurationError, messageOf, RequestError } from '../src/errors.ts';
import type { BodyOptions, Reply } from '../src/request/delivery.ts';
import { type RawBody, toBytes } from '../src/request/raw-body.ts';
import type { FetchBodyReader, FetchRequest } from './fetch-request.ts';
import { GrowingBuffer } from './growing-buffer.ts';
import { LINGER_MS } from './lingering.ts';

/** The body of a web Request, which is not touched until it is read: some runtimes prepare it only then. */
export class FetchBody {
  readonly #request: FetchRequest;
  #reader: FetchBodyReader | undefined;
  #hasEnded = false;

  constructor(request: FetchRequest) {
    this.#request = request;
  }

  /** Reads the body, byte for byte. */
  async read(options: BodyOptions): Promise<Uint8Array> {
    if (this.#isUsed) throw alreadyParsed();
    const reader = this.#open();
    const buffer = new GrowingBuffer(options.maxBytes);
    if (reader === undefined) return buffer.take();
    // The next chunk may never come.
    options.signal.addEventListener('abort', () => buffer.take());
    for (;;) {
      const { done, value } = await this.#next(reader);
      options.signal.throwIfAborted();
      if (done) return buffer.take();
      addChunk(buffer, value ?? '', options);
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
    const timer = setTimeout(() => reader.cancel().catch(() => {}), timeLimitMs);
    try {
      while (!this.#hasEnded) await this.#next(reader);
    } catch {
      // The sender gave up.
    }
    clearTimeout(timer);
  }

  async #next(reader: FetchBodyReader): ReturnType<FetchBodyReader['read']> {
    try {
      const result = await reader.read();
      this.#hasEnded = result.done;
      return result;
    } catch (cause) {
      this.#hasEnded = true;
      throw new RequestError('body_incomplete', `the body was cut short: ${messageOf(cause)}`, { cause });
    }
  }
}

function addChunk(buffer: GrowingBuffer, value: RawBody, { maxBytes, onProgress }: BodyOptions): void {
  const chunk = toBytes(value, 'each chunk of a body');
  if (buffer.length + chunk.length > maxBytes) {
    throw new RequestError('body_too_large', `the body has more than maxBodyBytes (${maxBytes})`);
  }
  buffer.add(chunk);
  onProgress?.(buffer.heldBytes);
}

function alreadyParsed(): ConfigurationError {
  return new ConfigurationError(
    'the body was read before posthorn could verify it: hand over the request (c.req.raw in Hono) before anything ' +
      'calls its json(), text() or formData(), and let no validator or body parser run on this route; a middleware ' +
      'that needs the body reads request.clone()',
    { code: 'body_already_parsed' },
  );
}
