import { checkOptions, checkReceiver, invalidOption } from '../src/receiver/checks/check-options.ts';
import { ConfigurationError } from '../src/receiver/errors.ts';
import type { BodyOptions, Reply } from '../src/receiver/request/delivery.ts';
import { toBytes } from '../src/receiver/request/raw-body.ts';
import { pause } from '../src/receiver/timing/process-clock.ts';
import { settledWithin } from '../src/receiver/timing/time-limit.ts';
import { dropPromise, messageOf, propertyOf, typeNameOf } from '../src/receiver/values/foreign-values.ts';
import type { Mountable } from '../src/receiver-interface.ts';
import { BodyBuffer, incomplete, tooLarge } from './body-buffer.ts';
import { urlOf } from './fetch-url.ts';
import { LINGER_MS } from './linger.ts';

/** Answers a web Request. What the platform hands over beside it may be passed on, for its `waitUntil`. */
export type FetchHandler = (request: Request, ...platformArguments: readonly unknown[]) => Promise<Response>;

/** Options of {@link toFetch}. */
export interface FetchOptions {
  /**
   * Keeps the process alive until the promise settles, on a platform that freezes or ends it after the
   * answer: `after` of Next.js, `waitUntil` of `@vercel/functions`. By default the `waitUntil` of what the
   * platform hands over beside the request (`ctx` of Workers, `context` of Netlify), or that of a context of
   * Hono.
   */
  readonly waitUntil?: ((promise: Promise<unknown>) => void) | undefined;
}

/**
 * Mounts a receiver on all that has the Request and Response of the web: Hono, Next.js, SvelteKit, Elysia,
 * Bun, Deno, Workers. It has no paths: the framework routes. The body of the request must be unread.
 *
 * A Response cannot close its connection. It has `connection: close` if the connection should be closed,
 * which servers on Node.js do. It then ends only when the rest of the request has been read and dropped, or
 * after a second or 64 MiB of it. If the body was not begun and its rest is small, it is left to the server.
 *
 * Repeated headers arrive joined, so a repeated signature is refused. Of two `authorization` headers a
 * framework that reads `headers` of Node.js, such as SvelteKit, shows the first. Only `request.signal` says
 * that a sender has hung up; on `@hono/node-server` it does not for the second request of a pipeline.
 *
 * @throws ConfigurationError for a wrong option, or for a value that is not a receiver. The handler rejects
 * with it for a value that is not a web Request.
 *
 * @example
 * ```ts
 * import { toFetch } from 'posthorn/fetch';
 *
 * const receive = toFetch(receiver);
 * app.all('/webhooks', (c) => receive(c.req.raw, c)); // Hono
 * ```
 */
export function toFetch(receiver: Mountable, options: FetchOptions = {}): FetchHandler {
  checkReceiver(receiver, 'toFetch', ['receive']);
  checkOptions(options, ['waitUntil'], 'toFetch');
  const isRight = options.waitUntil === undefined || typeof options.waitUntil === 'function';
  if (!isRight) throw invalidOption('waitUntil', 'must be a function that takes a promise');
  const warn = createWarning();
  return async (request, ...platformArguments) => {
    checkRequest(request);
    const body = new FetchBody(request);
    const waitUntil = options.waitUntil ?? findWaitUntil(platformArguments);
    const keepAlive = waitUntil && withoutFaults(waitUntil, warn);
    const reply = receiver.receive({
      method: request.method,
      headers: request.headers,
      url: urlOf(request),
      readBody: (bodyOptions) => body.read(bodyOptions),
      waitUntil: keepAlive,
      isConnected: () => !request.signal?.aborted,
    });
    // If a sender hangs up, Workers would end the handlers.
    keepAlive?.(reply);
    return toResponse(await reply, body);
  };
}

/** The body is not looked at: some runtimes begin to read it then. */
function checkRequest(request: Request): void {
  const isRequest =
    typeof propertyOf(request, 'method') === 'string' &&
    typeof propertyOf(request, 'bodyUsed') === 'boolean' &&
    typeof propertyOf(propertyOf(request, 'headers'), Symbol.iterator) === 'function';
  if (isRequest) return;
  throw new ConfigurationError(
    'this handler takes a web Request: c.req.raw in Hono, event.request in SvelteKit, request of the context in ' +
      'Elysia. A request of Node.js goes to toExpress of posthorn/express or toNode of posthorn/node, also in ' +
      `pages/api of Next.js; got ${typeNameOf(request)}`,
  );
}

type WaitUntil = NonNullable<FetchOptions['waitUntil']>;

/** Finds the `waitUntil` of the platform: of `ctx` (Workers), `context` (Netlify), or a context of Hono. */
function findWaitUntil(platformArguments: readonly unknown[]): WaitUntil | undefined {
  for (const argument of platformArguments) {
    // The getter `executionCtx` throws if the platform has none.
    const holder = hasWaitUntil(argument) ? argument : propertyOf(argument, 'executionCtx');
    if (hasWaitUntil(holder)) return (promise) => holder.waitUntil(promise);
  }
  return undefined;
}

function hasWaitUntil(value: unknown): value is { readonly waitUntil: WaitUntil } {
  return typeof propertyOf(value, 'waitUntil') === 'function';
}

/** Wraps a `waitUntil` so that nothing that it throws or returns changes an answer. */
function withoutFaults(waitUntil: WaitUntil, warn: (problem: string) => void): WaitUntil {
  return (promise) => {
    try {
      if (dropPromise(waitUntil(promise)))
        warn('must return nothing, got a promise, which is not waited for');
    } catch (error) {
      warn(`threw, so that the platform may end what goes on after an answer: ${messageOf(error)}`);
    }
  };
}

/** Returns a function that warns once. No report can: the receiver does not see what the adapter calls. */
function createWarning(): (problem: string) => void {
  let hasWarned = false;
  return (problem) => {
    if (!hasWarned) process.emitWarning(`posthorn: waitUntil ${problem}`);
    hasWarned = true;
  };
}

function toResponse(reply: Reply, body: FetchBody): Response {
  const { status, headers, body: text, close } = reply;
  const rest = body.dropRest(reply);
  if (!close) return new Response(text, { status, headers });
  const closing = { ...headers, 'content-length': String(Buffer.byteLength(text)), connection: 'close' };
  return new Response(rest === undefined ? text : textUntil(rest, text), { status, headers: closing });
}

/** A body that ends later than its text: a server closes the connection once it has ended. */
function textUntil(end: Promise<void>, text: string): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async start(controller) {
      controller.enqueue(Buffer.from(text));
      await end;
      controller.close();
    },
  });
}

/** The most bytes of a rest that are dropped. A sender that reads its answer late sends less than this. */
const LINGER_BYTES = 67_108_864;

/**
 * A stream whose chunks are in memory settles its reads as microtasks, so no timer runs before it has ended.
 * Therefore the reader lets the event loop go on after this many chunks, if no limit of bytes ends the
 * reading: while it drops a rest, and while chunks are empty. A body that grows is read as fast as it comes,
 * because unread chunks take more memory than the body.
 */
const CHUNKS_PER_TURN = 64;

type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

/** The body of a web Request. It is not touched until it is read: some runtimes prepare it only then. */
class FetchBody {
  readonly #request: Request;
  #reader: BodyReader | undefined;
  #hasEnded = false;
  #chunks = 0;
  #mostDroppedBytes = LINGER_BYTES;

  constructor(request: Request) {
    this.#request = request;
  }

  /** Reads the body, byte for byte. */
  async read(options: BodyOptions): Promise<Uint8Array> {
    if (this.#isUsed) throw alreadyParsed();
    const { maxBytes, signal } = options;
    this.#reader = this.#request.body?.getReader();
    // The receiver keeps a connection for a rest of a declared length up to this.
    this.#mostDroppedBytes = Math.max(LINGER_BYTES, maxBytes);
    const buffer = new BodyBuffer(options);
    // The next chunk may never come.
    signal.addEventListener('abort', () => buffer.take());
    for (;;) {
      const chunk = await this.#next();
      signal.throwIfAborted();
      if (chunk === undefined) return Buffer.concat(buffer.take());
      if (buffer.length + chunk.length > maxBytes) throw tooLarge(maxBytes);
      buffer.add(chunk);
      if (chunk.length === 0) await this.#passTurnInTime();
    }
  }

  /**
   * Reads and drops the rest of a body that was read in part, so that its connection can serve the next
   * request. If the connection is to be closed, the rest is read in any case: closing a socket that holds
   * unread bytes resets it, and the reset can overtake the answer. Returns undefined if nothing is read.
   */
  dropRest({ close, drainMs }: Reply): Promise<void> | undefined {
    if (this.#reader === undefined && close && !this.#isUsed) this.#reader = this.#request.body?.getReader();
    if (this.#reader === undefined || this.#hasEnded) return undefined;
    return this.#drop(this.#reader, close ? LINGER_MS : drainMs);
  }

  get #isUsed(): boolean {
    return this.#request.bodyUsed || this.#request.body?.locked === true;
  }

  async #drop(reader: BodyReader, timeLimitMs: number): Promise<void> {
    await settledWithin(this.#readRest(), timeLimitMs);
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    // A stream of the application may fail to cancel.
    reader.cancel().catch(() => {});
  }

  async #readRest(): Promise<void> {
    try {
      for (let bytes = 0; !this.#hasEnded && bytes <= this.#mostDroppedBytes; ) {
        bytes += (await this.#next())?.length ?? 0;
        await this.#passTurnInTime();
      }
    } catch {
      // The sender gave up.
    }
  }

  async #passTurnInTime(): Promise<void> {
    this.#chunks += 1;
    if (this.#chunks % CHUNKS_PER_TURN === 0) await pause(0);
  }

  /** Reads the next chunk. Returns undefined at the end, and for a request without a body. */
  async #next(): Promise<Uint8Array | undefined> {
    let result: Awaited<ReturnType<BodyReader['read']>> | undefined;
    try {
      result = await this.#reader?.read();
    } catch (cause) {
      this.#hasEnded = true;
      throw incomplete(cause);
    }
    this.#hasEnded ||= result?.done !== false;
    return result?.done === false ? toBytes(result.value ?? '', 'each chunk of a body') : undefined;
  }
}

function alreadyParsed(): ConfigurationError {
  return new ConfigurationError(
    'the body was read before posthorn could verify it: hand over the request (c.req.raw in Hono) before anything ' +
      'calls its json(), text() or formData(), and let no validator or body parser run on this route; a middleware ' +
      'that needs the body reads request.clone()',
    { code: 'body_already_parsed' },
  );
}
