import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { ConfigurationError, typeNameOf } from '../src/errors.ts';

/** A request of Node.js http, https or http2, perhaps with properties that a framework has added. */
export interface NodeRequest extends Readable {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** The whole target, where a framework has taken the prefix of a mount out of `url`. */
  readonly originalUrl?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly httpVersionMajor: number;
  /** True once the whole request has arrived. */
  readonly complete: boolean;
  /** True if the sender hung up before the end of the request. */
  readonly aborted: boolean;
  readonly socket: { readonly destroyed: boolean };
  readonly body?: unknown;
  readonly rawBody?: unknown;
}

/** A response of Node.js http, https or http2. */
export interface NodeResponse {
  readonly headersSent: boolean;
  readonly statusCode?: number;
  readonly destroyed?: boolean;
  /** Only HTTP/2 has one. */
  readonly stream?: Http2Stream;
  writeHead(status: number, headers: Record<string, string | number>): unknown;
  write(chunk: string): unknown;
  cork?(): void;
  uncork?(): void;
  once?(event: 'finish', listener: () => void): unknown;
  end(): unknown;
  end(chunk: string): unknown;
}

/** The stream of an HTTP/2 response. */
export interface Http2Stream {
  readonly destroyed: boolean;
  close(code?: number): void;
  destroy(): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/** Throws {@link ConfigurationError} for the requests of other frameworks. */
export function checkRequest(request: NodeRequest): void {
  if (Array.isArray(request?.rawHeaders)) return;
  throw new ConfigurationError(
    'this handler takes a request and a response of Node.js: ctx.req and ctx.res on Koa, request.raw and ' +
      `reply.raw on Fastify; got ${typeNameOf(request)}`,
  );
}

/** Returns false once the sender has hung up, or somebody else has answered. */
export function isConnected(request: NodeRequest, response: NodeResponse): boolean {
  // A pipelined response has no socket until its turn comes, so the socket of the request is asked.
  const isGone =
    request.aborted || request.socket.destroyed || response.destroyed || response.stream?.destroyed;
  return !isGone && !response.headersSent;
}
