import type { ServerResponse } from 'node:http';
import type { Delivery, Reply } from '../src/delivery.ts';
import { ConfigurationError } from '../src/errors.ts';
import { checkOptions } from '../src/options.ts';
import type { Receiver } from '../src/receiver.ts';
import { type NodeRequest, readRawBody } from './raw-body.ts';

/** A request listener of Node.js http, https and http2, and a middleware of Connect. */
export type NodeHandler = (
  request: NodeRequest,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void;

export interface NodeOptions {
  /** Serve this path only; others go to `next`, or get 404 without one. Every path is served by default. */
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
    if (path === undefined || pathOf(request.url) === path) void answer(receiver, request, response);
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

function pathOf(url = '/'): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

async function answer(
  receiver: Pick<Receiver, 'receive'>,
  request: NodeRequest,
  response: ServerResponse,
): Promise<void> {
  const reply = await receiver.receive(toDelivery(request, response));
  send(request, response, reply);
}

function toDelivery(request: NodeRequest, response: ServerResponse): Delivery {
  return {
    method: request.method ?? '',
    headers: allHeaders(request.rawHeaders),
    readBody: ({ maxBytes, signal }) => readRawBody(request, maxBytes, signal),
    isConnected: () => !response.destroyed && !response.headersSent,
  };
}

/** `request.headers` drops a repeated `authorization`, and HTTP/2 has no `headersDistinct`. */
function allHeaders(rawHeaders: readonly string[]): Delivery['headers'] {
  const headers: Record<string, string[]> = Object.create(null);
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = String(rawHeaders[index]).toLowerCase();
    const value = String(rawHeaders[index + 1]);
    const values = headers[name];
    if (values === undefined) headers[name] = [value];
    else values.push(value);
  }
  return headers;
}

/** How long a connection that is to be closed is still read: RFC 9112, section 9.6. */
const LINGER_MS = 1_000;

/** Sends a reply, and sees to it that no rest of the request body blocks the connection. */
function send(request: NodeRequest, response: ServerResponse, reply: Reply): void {
  if (response.headersSent || response.destroyed) return;
  const isHttp1 = request.httpVersionMajor < 2;
  const close = reply.close && isHttp1;
  const headers = { ...reply.headers, 'content-length': Buffer.byteLength(reply.body) };
  response.writeHead(reply.status, close ? { ...headers, connection: 'close' } : headers);
  if (request.complete || !isHttp1) response.end(reply.body);
  else if (close) linger(request, response, reply.body);
  else drain(request, response, reply);
}

/**
 * Closing with unread bytes in the socket resets the connection, and the reset can overtake the answer. So the answer
 * is sent whole, and what still comes is read and dropped until the sender has taken note.
 */
function linger(request: NodeRequest, response: ServerResponse, body: string): void {
  response.write(body);
  const timer = setTimeout(finish, LINGER_MS);
  function finish(): void {
    clearTimeout(timer);
    response.end();
  }
  request.once('end', finish).once('close', finish).resume();
}

/** Drops the rest of the body, so that the connection can serve the next request; not for longer than `drainMs`. */
function drain(request: NodeRequest, response: ServerResponse, { body, drainMs }: Reply): void {
  const timer = setTimeout(() => request.destroy(), drainMs);
  const finish = (): void => clearTimeout(timer);
  request.once('end', finish).once('close', finish);
  response.end(body);
  request.resume();
}
