import { checkOptions, invalidOption } from '../src/check-options.ts';
import type { Reply } from '../src/request/delivery.ts';
import { FetchBody } from './fetch-body.ts';
import { checkFetchRequest } from './fetch-request.ts';
import { checkReceiver, type Mountable } from './mountable.ts';
import { checkedWaitUntil, findWaitUntil } from './wait-until.ts';
import { createWarning } from './warn-once.ts';

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
  readonly waitUntil?: (promise: Promise<unknown>) => void;
}

/**
 * Mounts a receiver on all that has the Request and Response of the web: Hono, Next.js, SvelteKit, Elysia,
 * Bun, Deno, Workers. It has no paths: the framework routes. The body of the request must be unread.
 *
 * A Response cannot close its connection, but bears `connection: close` where that should be closed: servers
 * on Node.js follow it. It then ends only when the rest of the request has been read and dropped, or after a
 * second or 64 MiB of it. A body that was not begun, and has no large rest, is left to the server.
 *
 * @throws ConfigurationError for a wrong option, or for what is no receiver. The handler rejects with it for
 * what is no web Request.
 *
 * @example
 * ```ts
 * const receive = toFetch(receiver);
 * app.all('/webhooks', (c) => receive(c.req.raw, c)); // Hono
 * ```
 */
export function toFetch(receiver: Mountable, options: FetchOptions = {}): FetchHandler {
  checkReceiver(receiver, 'toFetch');
  checkOptions(options, ['waitUntil'], 'toFetch');
  const isRight = options.waitUntil === undefined || typeof options.waitUntil === 'function';
  if (!isRight) throw invalidOption('waitUntil', 'must be a function that takes a promise');
  const warn = createWarning('waitUntil');
  return async (request, ...platformArguments) => {
    checkFetchRequest(request);
    const body = new FetchBody(request);
    const given = options.waitUntil ?? findWaitUntil(platformArguments);
    const waitUntil = given && checkedWaitUntil(given, warn);
    const reply = receiver.receive({
      method: request.method,
      headers: request.headers,
      readBody: (bodyOptions) => body.read(bodyOptions),
      waitUntil,
      isConnected: () => !request.signal?.aborted,
    });
    // Workers would abort the handlers of a sender that hangs up.
    waitUntil?.(reply);
    return toResponse(await reply, body);
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
