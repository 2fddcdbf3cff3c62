import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { ConfigurationError } from '../src/receiver/errors.ts';
import type { HeaderFields } from '../src/receiver/request/headers.ts';
import { propertyOf, typeNameOf } from '../src/receiver/values/foreign-values.ts';

/** A request of Node.js http, https or http2, perhaps with properties that a framework has added. */
export interface NodeRequest extends Readable {
  /** The method: the receiver refuses all but POST. */
  readonly method?: string | undefined;
  /** The target of the request: a path with its query, or an absolute address from a proxy. */
  readonly url?: string | undefined;
  /** The whole target, if a framework has taken the prefix of a mount out of `url`. */
  readonly originalUrl?: string | undefined;
  /** They are read for `content-length`, and for all headers if `rawHeaders` is empty. */
  readonly headers: IncomingHttpHeaders;
  /** Names and values by turns, as they were sent: a repeated header shows twice. */
  readonly rawHeaders: readonly string[];
  /** The version: a connection of HTTP/2 is never closed for one answer. */
  readonly httpVersionMajor: number;
  /** True once the whole request has arrived. */
  readonly complete: boolean;
  /** True if the sender hung up before the end of the request. */
  readonly aborted: boolean;
  /** The connection; destroyed once the sender has hung up. A shim may have none. */
  readonly socket?: { readonly destroyed: boolean; destroy?(): unknown } | undefined;
  /** A body parser sets it. If it holds bytes, they are the raw body. */
  readonly body?: unknown;
  /** The body as it was sent, if a framework keeps it: bytes, or a text in UTF-8. */
  readonly rawBody?: unknown;
}

/** A response of Node.js http, https or http2. */
export interface NodeResponse {
  /** True once an answer was begun. */
  readonly headersSent: boolean;
  /** The status of the answer; read once that has been sent. */
  readonly statusCode?: number;
  /** True once nothing can be sent any more. */
  readonly destroyed?: boolean;
  /** Only HTTP/2 has one. */
  readonly stream?: Http2Stream;
  /** Begins the answer. */
  writeHead(status: number, headers: Record<string, string | number>): unknown;
  /** Sends a part of the body of the answer. */
  write(chunk: string): unknown;
  /** Keeps what is written until `uncork`, so that it is sent at once. */
  cork?(): void;
  /** Sends what was kept since `cork`. */
  uncork?(): void;
  /** Calls back when the answer has been handed to the system, or when its connection is closed. */
  once?(event: 'finish' | 'close', listener: () => void): unknown;
  /** Ends the answer. */
  end(): unknown;
  /** Ends the answer with the last part of its body. */
  end(chunk: string): unknown;
}

/** The stream of an HTTP/2 response. */
export interface Http2Stream {
  readonly destroyed: boolean;
  readonly writableFinished: boolean;
  close(code?: number): void;
  setTimeout(ms: number, listener: () => void): unknown;
  once(event: 'finish' | 'close', listener: () => void): unknown;
}

/** Returns true for a request of Node.js, and for one that a shim has made like it. */
export function isNodeRequest(request: unknown): request is NodeRequest {
  if (typeof propertyOf(request, 'on') !== 'function') return false;
  return [propertyOf(request, 'rawHeaders'), propertyOf(request, 'headers')].some(
    (headers) => typeof headers === 'object' && headers !== null,
  );
}

/**
 * The headers of a request. `headers` drops a repeated `authorization`, and HTTP/2 has no `headersDistinct`.
 * But shims that make a request out of an event, as serverless-http does on Lambda, fill only `headers`.
 * Behind a REST API serverless-http keeps only the last value of a header that was sent twice.
 */
export function headersOf({ rawHeaders, headers }: NodeRequest): HeaderFields {
  return Array.isArray(rawHeaders) && rawHeaders.length > 0 ? rawHeaders : headers;
}

/** Throws {@link ConfigurationError} for the requests of other frameworks. */
export function checkRequest(request: NodeRequest): void {
  if (isNodeRequest(request)) return;
  throw new ConfigurationError(
    'this handler takes a request and a response of Node.js (ctx.req and ctx.res on Koa, request.raw and ' +
      `reply.raw on Fastify; there, use toKoa and toFastify); got ${typeNameOf(request)}`,
  );
}

/**
 * Closes the connection, or the stream of HTTP/2, if no answer is possible. `request.destroy()` alone leaves
 * a connection open whose request has been read to its end. Never throws: it is the last step.
 */
export function hangUp(request: NodeRequest): void {
  try {
    request.destroy();
    request.socket?.destroy?.();
  } catch {
    // Middleware may have replaced the methods, and some platforms have no socket.
  }
}

/** Returns false once the sender has hung up, or another listener has answered. */
export function isConnected(request: NodeRequest, response: NodeResponse): boolean {
  // A pipelined response has no socket until its turn comes, so the socket of the request is asked.
  const isGone =
    request.aborted || request.socket?.destroyed || response.destroyed || response.stream?.destroyed;
  return !isGone && !response.headersSent;
}
