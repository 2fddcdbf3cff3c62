import { checkOptions } from '../src/check-options.ts';
import { ConfigurationError } from '../src/errors.ts';
import type { Receiver } from '../src/receiver.ts';
import type { BodyOptions, Delivery, Reply } from '../src/request/delivery.ts';
import { type NodeRequest, readRawBody } from './raw-body.ts';

/** A response of Node.js http, https or http2. */
export interface NodeResponse {
  readonly headersSent: boolean;
  readonly destroyed?: boolean;
  /** That of HTTP/2. */
  readonly stream?: { readonly destroyed: boolean; close(code?: number): void };
  writeHead(status: number, headers: Record<string, string | number>): unknown;
  write(chunk: string): unknown;
  cork?(): void;
  uncork?(): void;
  end(): unknown;
  end(chunk: string): unknown;
}

/** A request listener of Node.js http, https and http2, and a middleware of Connect. */
export type NodeHandler = (
  request: NodeRequest,
  response: NodeResponse,
  next?: (error?: unknown) => void,
) => void;

export interface NodeOptions {
  /** Serve this `request.url` only, without its query; others go to `next`, or get 404 without one. Every path by default. */
  readonly path?: string;
}

/**
 * Mounts a receiver on Node.js http.
 *
 * @throws ConfigurationError for a wrong option.
 *
 * @example
 * ```ts
 * createServer(toNode(receiver, { path: '/webhooks' })).listen(3000);
 * ```
 */
export function toNode(receiver: Pick<Receiver, 'receive'>, options: NodeOptions = {}): NodeHandler {
  checkOptions(options, ['path'], 'toNode');
  const { path } = options;
  if (path !== undefined && !(typeof path === 'string' && /^\/[^?#]*$/.test(path))) {
    throw new ConfigurationError('path must begin with "/" and hold no "?" or "#"');
  }
  return (request, response, next) => {
    if (path === undefined || pathOf(request.url) === path) answer(receiver, request, response);
    else if (next === undefined) send(request, response, NOT_FOUND);
    else next();
  };
}

const NOT_FOUND: Reply = {
  status: 404,
  headers: { 'content-type': 'application/problem+json' },
  body: JSON.stringify({ title: 'Nothing is served under this path', status: 404, code: 'not_found' }),
  close: false,
  drainMs: 1_000,
};

function pathOf(target = '/'): string {
  // A proxy may send the absolute form (RFC 9112, section 3.2.2).
  const url = target.replace(/^https?:\/\/[^/?]*/i, '') || '/';
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

function answer(receiver: Pick<Receiver, 'receive'>, request: NodeRequest, response: NodeResponse): void {
  const delivery = new NodeDelivery(request, response);
  void receiver.receive(delivery).then((reply) => send(request, response, reply));
}

class NodeDelivery implements Delivery {
  readonly #request: NodeRequest;
  readonly #response: NodeResponse;

  constructor(request: NodeRequest, response: NodeResponse) {
    this.#request = request;
    this.#response = response;
    // Where someone else listens to the body, it would flow before it is asked for.
    if (request.readableFlowing === true) request.pause();
  }

  get method(): string {
    return this.#request.method ?? '';
  }

  /** `request.headers` drops a repeated `authorization`, and HTTP/2 has no `headersDistinct`. */
  get headers(): Delivery['headers'] {
    return this.#request.rawHeaders;
  }

  readBody(options: BodyOptions): Uint8Array | Promise<Uint8Array> {
    return readRawBody(this.#request, options);
  }

  isConnected(): boolean {
    return isConnected(this.#request, this.#response);
  }
}

function isConnected(request: NodeRequest, response: NodeResponse): boolean {
  // A pipelined response that waits for its turn has no socket of its own yet, so the request's is asked.
  const isGone =
    request.aborted || request.socket.destroyed || response.destroyed || response.stream?.destroyed;
  return !isGone && !response.headersSent;
}

/** How long a connection that is to be closed is still read: RFC 9112, section 9.6. */
const LINGER_MS = 1_000;

/** Sends a reply, and sees to it that no rest of the request body blocks the connection. */
function send(request: NodeRequest, response: NodeResponse, reply: Reply): void {
  if (!isConnected(request, response)) return;
  const close = reply.close && request.httpVersionMajor < 2;
  if (takesRawHeaders(response)) response.writeHead(reply.status, rawHeadersOf(reply, close));
  else response.writeHead(reply.status, headersOf(reply, close));
  if (request.complete) endWith(response, reply.body);
  else if (response.stream !== undefined) endStream(request, response, response.stream, reply);
  else if (close) linger(request, response, reply.body);
  else drain(request, response, reply);
}

/**
 * HTTP/1 does in every version of Node.js. A `writeHead` that middleware has put in its place may not: `on-headers` before 1.1.0, which
 * compression and session middleware use, takes such a list for pairs (CVE-2025-7339).
 */
function takesRawHeaders(
  response: NodeResponse,
): response is NodeResponse & { writeHead(status: number, headers: string[]): unknown } {
  return response.stream === undefined && !Object.hasOwn(response, 'writeHead');
}

function headersOf({ headers, body }: Reply, close: boolean): Record<string, string | number> {
  const sent = { ...headers, 'content-length': Buffer.byteLength(body) };
  return close ? { ...sent, connection: 'close' } : sent;
}

/** Names and values by turns: the form that Node.js writes as it is, without an object made of it and taken apart again. */
function rawHeadersOf({ headers, body }: Reply, close: boolean): string[] {
  const rawHeaders = ['content-length', String(Buffer.byteLength(body))];
  for (const name in headers) rawHeaders.push(name, headers[name] ?? '');
  if (close) rawHeaders.push('connection', 'close');
  return rawHeaders;
}

/**
 * `end(body)` writes the body and then an empty end, which go out together as a list. The body alone, with nothing left to write at the
 * end, saves 5 % of a delivery (over TLS it costs as much either way). What wraps the response may know no `cork`.
 */
function endWith(response: NodeResponse, body: string): void {
  response.cork?.();
  response.write(body);
  response.uncork?.();
  response.end();
}

/**
 * Closing with unread bytes in the socket resets the connection, and the reset can overtake the answer. So the answer
 * is sent whole, and what still comes is read and dropped until the sender has taken note.
 */
function linger(request: NodeRequest, response: NodeResponse, body: string): void {
  response.write(body);
  dropRest(request, LINGER_MS, () => response.end());
}

/** Drops the rest of the body, so that the connection can serve the next request; not for longer than `drainMs`. */
function drain(request: NodeRequest, response: NodeResponse, { body, drainMs }: Reply): void {
  response.end(body);
  dropRest(request, drainMs, () => {
    if (!request.complete) request.destroy();
  });
}

/** HTTP/2 goes on with its connection; a stream whose rest nobody wants is closed (RFC 9113, section 8.1). */
function endStream(
  request: NodeRequest,
  response: NodeResponse,
  stream: NonNullable<NodeResponse['stream']>,
  { body, close, drainMs }: Reply,
): void {
  response.end(body);
  // Only HTTP/1 tells a body of undeclared length by its transfer-encoding.
  const isUnbounded = close || request.headers['content-length'] === undefined;
  dropRest(request, isUnbounded ? LINGER_MS : drainMs, () => stream.close());
}

/** Reads and drops what still comes; calls `then` once, at its end or after `timeLimitMs`. */
function dropRest(request: NodeRequest, timeLimitMs: number, then: () => void): void {
  const finish = (): void => {
    clearTimeout(timer);
    request.off('end', finish).off('close', finish);
    then();
  };
  const timer = setTimeout(finish, timeLimitMs);
  request.once('end', finish).once('close', finish).resume();
}
