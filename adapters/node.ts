import { checkOptions, checkReceiver } from '../src/receiver/checks/check-options.ts';
import type { Reply } from '../src/receiver/request/delivery.ts';
import type { Mountable } from '../src/receiver-interface.ts';
import { answer } from './answer.ts';
import { checkRequest, hangUp, headersOf, type NodeRequest, type NodeResponse } from './node-http.ts';
import { sendReply } from './send-reply.ts';
import { isFirstToReport, isSamePath, pathsOf, readPath, reportIfNotFound } from './served-path.ts';

export { toHealth } from './node-health.ts';
export type { NodeRequest, NodeResponse } from './node-http.ts';

/** A request listener of Node.js http, https and http2, and a middleware of Connect. */
export type NodeHandler = (
  request: NodeRequest,
  response: NodeResponse,
  next?: (error?: unknown) => void,
) => void;

/** Options of {@link toNode}. */
export interface NodeOptions {
  /**
   * Serve only this path, with or without a slash at its end; every path by default. It is encoded as in a
   * URL, and is not a pattern: `:` and `*` stand for themselves. Behind the prefix of a mount
   * (`app.use('/api', …)`) it may be the whole path, or what follows the prefix. Requests for other paths go
   * to `next`, or get 404 without one; a delivery that gets 404 is reported.
   */
  readonly path?: string | undefined;
}

/**
 * Mounts a receiver on Node.js http. It answers every request for its path: a second receiver on the same
 * path is never asked.
 *
 * @throws ConfigurationError for a wrong option, or for a value that is not a receiver. The handler throws it
 * for a value that is not a request of Node.js.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { toNode } from 'posthorn/node';
 *
 * createServer(toNode(receiver, { path: '/webhooks' })).listen(3000);
 * ```
 */
export function toNode(receiver: Mountable, options: NodeOptions = {}): NodeHandler {
  checkReceiver(receiver, 'toNode', ['receive']);
  checkOptions(options, ['path'], 'toNode');
  const served = options.path === undefined ? undefined : readPath(options.path);
  return (request, response, next) => {
    checkRequest(request);
    if (served === undefined || pathsOf(request).some((path) => isSamePath(path, served)))
      answer(receiver, request, response).catch((error: unknown) => fail(request, next, error));
    else leave(receiver, served, request, response, next);
  };
}

/** Leaves a request for another path to `next`, or answers 404. */
function leave(
  receiver: Mountable,
  served: string,
  request: NodeRequest,
  response: NodeResponse,
  next: ((error?: unknown) => void) | undefined,
): void {
  const [requested = '/'] = pathsOf(request);
  if (next === undefined) {
    try {
      sendReply(request, response, NOT_FOUND);
    } catch (error) {
      fail(request, next, error);
    }
    if (isFirstToReport(receiver, request, response))
      receiver.reportMisdirected?.(headersOf(request), { requested, served });
  } else {
    reportIfNotFound(receiver, request, response, { requested, served });
    next();
  }
}

/** A response whose methods middleware has replaced can throw: then no other answer is possible. */
function fail(request: NodeRequest, next: ((error?: unknown) => void) | undefined, error: unknown): void {
  if (next === undefined) hangUp(request);
  else next(error);
}

const NOT_FOUND: Reply = {
  status: 404,
  headers: { 'content-type': 'application/problem+json' },
  body: JSON.stringify({ title: 'Nothing is served under this path', status: 404, code: 'not_found' }),
  close: false,
  drainMs: 1_000,
};
