import { ServerResponse } from 'node:http';
import type { Reply } from '../src/receiver/request/delivery.ts';
import { clearTimeout, setTimeout } from '../src/receiver/timing/process-clock.ts';
import { LINGER_MS } from './linger.ts';
import { type Http2Stream, hangUp, isConnected, type NodeRequest, type NodeResponse } from './node-http.ts';

/** Sends a reply. The unread rest of the request body never blocks the connection. */
export function sendReply(request: NodeRequest, response: NodeResponse, reply: Reply): void {
  if (!isConnected(request, response)) return;
  const close = reply.close && request.httpVersionMajor < 2;
  if (takesHeaderList(response)) response.writeHead(reply.status, headerListOf(reply, close));
  else response.writeHead(reply.status, headersOf(reply, close));
  if (response.stream !== undefined) limitStream(response.stream, reply);
  // With `rejectNonStandardBodyWrites` Node.js throws if the answer to HEAD gets a body.
  if (request.method === 'HEAD') response.end();
  else if (request.complete) sendBody(response, reply.body);
  else if (response.stream !== undefined) sendAndCloseStream(request, response, response.stream, reply);
  else if (close) sendAndCloseConnection(request, response, reply);
  else sendAndKeepConnection(request, response, reply);
}

function headersOf({ headers, body }: Reply, close: boolean): Record<string, string | number> {
  const sent = { ...headers, 'content-length': Buffer.byteLength(body) };
  return close ? { ...sent, connection: 'close' } : sent;
}

/** The method of Node.js itself, as it is before a middleware or an agent replaces it. */
const { writeHead } = ServerResponse.prototype;

/**
 * HTTP/1 of Node.js writes a list of names and values as it is. An object of headers costs 6 % more of a
 * delivery's processor time (bench/compare, a build with `false` here). Any other `writeHead`, of a
 * middleware or of a class that imitates the response, may ignore the list or take it for pairs: `on-headers`
 * before 1.1.0 did (CVE-2025-7339), and serverless-http sends a header named `0`.
 */
function takesHeaderList(response: NodeResponse): response is NodeResponse & HeaderListWriter {
  return response.writeHead === writeHead;
}

interface HeaderListWriter {
  writeHead(status: number, headers: readonly string[]): unknown;
}

function headerListOf({ headers, body }: Reply, close: boolean): string[] {
  const list = ['content-length', String(Buffer.byteLength(body))];
  for (const name of Object.keys(headers)) list.push(name, headers[name] ?? '');
  if (close) list.push('connection', 'close');
  return list;
}

/**
 * `end(body)` writes the body and an empty chunk, which Node.js sends together by `writev`. That costs 6 %
 * more of a delivery's processor time than writing the body first (bench/compare, a build with `end(body)`
 * here). A wrapped response may have no `cork`.
 */
function sendBody(response: NodeResponse, body: string): void {
  response.cork?.();
  response.write(body);
  response.uncork?.();
  response.end();
}

/** HTTP/2 keeps its connection, and closes a stream whose rest is not wanted (RFC 9113, section 8.1). */
function sendAndCloseStream(
  request: NodeRequest,
  response: NodeResponse,
  stream: Http2Stream,
  { body, close, drainMs }: Reply,
): void {
  response.end(body);
  // A missing length counts as unbounded, because HTTP/2 has no transfer-encoding by which a reply could ask
  // to close.
  const isUnbounded = close || request.headers['content-length'] === undefined;
  dropRest(request, isUnbounded ? LINGER_MS : drainMs, () => closeOnceWritten(stream));
}

/**
 * `close` marks the stream at once, although Node.js resets it only after the answer. A stream that is
 * destroyed in between is never reset, and at its next WINDOW_UPDATE Node.js loops until memory is full.
 */
function closeOnceWritten(stream: Http2Stream): void {
  if (stream.writableFinished) stream.close();
  else stream.once('finish', () => stream.close());
}

/**
 * Closing a socket that holds unread bytes resets the connection, and the reset can overtake the answer. So
 * the answer is sent whole first, and the rest of the request is read and dropped until the sender stops.
 */
function sendAndCloseConnection(request: NodeRequest, response: NodeResponse, { body }: Reply): void {
  response.write(body);
  dropRest(request, LINGER_MS, () => response.end());
}

/** Drops the rest of the body for up to `drainMs`, so that the connection can serve the next request. */
function sendAndKeepConnection(request: NodeRequest, response: NodeResponse, { body, drainMs }: Reply): void {
  response.end(body);
  dropRest(request, drainMs, () => {
    if (!request.complete) request.destroy();
  });
}

/**
 * A sender may grant its streams no window for answers, and open more and more of them. HTTP/1 needs no such
 * limit: Node.js reads no further request from a connection whose answers are not taken. A larger answer gets
 * more time, as long as its bytes are taken: `setTimeout` of the stream starts anew with them.
 */
function limitStream(stream: Http2Stream, { body, drainMs }: Reply): void {
  // NO_ERROR would say of a part of an answer that it is the whole one.
  const end = (): void => stream.close(stream.writableFinished ? NO_ERROR : CANCEL);
  const furtherWindows = Math.floor(body.length / WINDOW_LENGTH);
  const timer = setTimeout(end, drainMs * (1 + furtherWindows));
  if (furtherWindows > 0) stream.setTimeout(drainMs, end);
  stream.once('close', () => clearTimeout(timer));
}

/** The window of a stream whose peer has set no other (RFC 9113, section 6.9.2). */
const WINDOW_LENGTH = 65_535;

/** Error codes of HTTP/2 (RFC 9113, section 7). */
const NO_ERROR = 0;
const CANCEL = 8;

/**
 * Reads and drops the rest of the request. Calls `then` once, at the end of the request or after
 * `timeLimitMs`.
 */
function dropRest(request: NodeRequest, timeLimitMs: number, then: () => void): void {
  const finish = (): void => {
    clearTimeout(timer);
    request.off('end', finish).off('close', finish);
    try {
      then();
    } catch {
      // Middleware may have replaced the methods of the response. An error that is thrown here ends the
      // process.
      hangUp(request);
    }
  };
  const timer = setTimeout(finish, timeLimitMs);
  request.once('end', finish).once('close', finish).resume();
}
