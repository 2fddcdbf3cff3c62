import { ConfigurationError } from '../errors.ts';
import type { Awaitable } from '../timing/awaitable.ts';
import { typeNameOf } from '../values/foreign-values.ts';
import type { HeaderFields } from './headers.ts';
import type { RawBody } from './raw-body.ts';

/** One HTTP request that carries an event, as an adapter hands it to the receiver. */
export interface Delivery {
  /** Pass it on as it was sent: the receiver refuses all but POST. */
  readonly method: string;
  /** All values of each name, in any usual form: a header that was sent twice must show twice. */
  readonly headers: HeaderFields;
  /**
   * Path and query as the sender wrote them, such as `/webhooks/m17?token=x`: with the prefixes of mounts,
   * not decoded, and without scheme and host. It is neither logged nor stored, because it may hold a token.
   */
  readonly url?: string | undefined;
  /**
   * Returns the unchanged body, as bytes or text, if it has arrived already, else a promise of it. Throws or
   * rejects with a `RequestError` (`body_too_large`, `body_incomplete`), or with a `ConfigurationError`
   * (`body_already_parsed`) if something else has read it.
   */
  readonly readBody: (options: BodyOptions) => Awaitable<RawBody>;
  /**
   * Keeps the process alive until the promise settles, on a platform that freezes it after the answer. The
   * receiver does not wait for its result.
   */
  readonly waitUntil?: ((promise: Promise<unknown>) => void) | undefined;
  /** Returns false once the sender has hung up. Without it, reports have `answerSent: true`. */
  readonly isConnected?: (() => boolean) | undefined;
  /**
   * The milliseconds from the call to the latest answer, on a platform that stops the process then. It
   * shortens `deadlineMs`, but never lengthens it; 0 or less leaves no time for handlers.
   */
  readonly timeLimitMs?: number | undefined;
}

/** Options with which an adapter reads a body. */
export interface BodyOptions {
  /** The largest body that is accepted; a larger one is `body_too_large`. */
  readonly maxBytes: number;
  /** Aborts when the receiver gives up on the body: stop reading, and free the memory. */
  readonly signal: AbortSignal;
  /**
   * Call it with the number of bytes in memory whenever more of the body has arrived: they count against
   * `maxBufferedBytes`. If it is never called, a body counts only once it is whole.
   */
  readonly onProgress?: ((heldBytes: number) => void) | undefined;
}

/** The answer to a delivery, for an adapter to send. */
export interface Reply {
  /** The HTTP status. */
  readonly status: number;
  /** Names are lower-case. The adapter adds `content-length` and `connection`. */
  readonly headers: { readonly [name: string]: string };
  /** It is JSON. */
  readonly body: string;
  /** Close the connection after the answer (`Connection: close`; never on HTTP/2). */
  readonly close: boolean;
  /** How long, in milliseconds, an adapter drains the rest of the request body if the connection is kept. */
  readonly drainMs: number;
}

/**
 * Throws {@link ConfigurationError} for a value that is not a delivery. Its headers are checked by
 * `readHeaders`.
 */
export function checkDelivery(delivery: Delivery): void {
  if (typeof delivery !== 'object' || delivery === null) {
    throw new ConfigurationError(
      `receive() takes a delivery, an object with method, headers and readBody; got ${typeNameOf(delivery)}`,
    );
  }
  const { method, url, readBody, waitUntil, isConnected, timeLimitMs } = delivery;
  checkMember('method', method, typeof method === 'string', 'the method of the request, a string');
  checkUrl(url, 'a delivery');
  checkMember('readBody', readBody, typeof readBody === 'function', 'a function that gives the raw body');
  checkMember('waitUntil', waitUntil, isFunctionIfGiven(waitUntil), 'a function, or left out');
  checkMember('isConnected', isConnected, isFunctionIfGiven(isConnected), 'a function, or left out');
  const isTime = timeLimitMs === undefined || (typeof timeLimitMs === 'number' && !Number.isNaN(timeLimitMs));
  checkMember('timeLimitMs', timeLimitMs, isTime, 'a number of milliseconds, or left out');
}

/** Throws {@link ConfigurationError} for a url of another type: `account` reads a text. */
export function checkUrl(url: unknown, owner: string): void {
  if (url === undefined || typeof url === 'string') return;
  throw new ConfigurationError(
    `url of ${owner} must be the path and the query of the request, a string, or left out; got ${typeNameOf(url)}`,
  );
}

function checkMember(name: keyof Delivery, value: unknown, isRight: boolean, expected: string): void {
  if (isRight) return;
  throw new ConfigurationError(`${name} of a delivery must be ${expected}; got ${typeNameOf(value)}`);
}

function isFunctionIfGiven(value: unknown): boolean {
  return value === undefined || typeof value === 'function';
}
