import { checkOptions, invalidOption } from '../src/check-options.ts';
import type { Reply } from '../src/request/delivery.ts';
import { checkReceiver, type Mountable } from './mountable.ts';
import { toDelivery } from './node-delivery.ts';
import { checkRequest, type NodeRequest, type NodeResponse } from './node-http.ts';
import { sendReply } from './send-reply.ts';

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
   * Serve only this path of `request.url`, without its query; every path by default. Requests for other paths
   * go to `next`, or get 404 without one.
   */
  readonly path?: string;
}

/**
 * Mounts a receiver on Node.js http.
 *
 * @throws ConfigurationError for a wrong option, or for what is no receiver. The handler throws it for what
 * is no request of Node.js.
 *
 * @example
 * ```ts
 * createServer(toNode(receiver, { path: '/webhooks' })).listen(3000);
 * ```
 */
export function toNode(receiver: Mountable, options: NodeOptions = {}): NodeHandler {
  checkReceiver(receiver, 'toNode');
  checkOptions(options, ['path'], 'toNode');
  const { path } = options;
  if (path !== undefined && !(typeof path === 'string' && /^\/[^?#]*$/.test(path))) {
    throw invalidOption('path', 'must begin with "/" and hold no "?" or "#"');
  }
  return (request, response, next) => {
    checkRequest(request);
    if (path === undefined || pathOf(request.url) === path)
      answer(receiver, request, response).catch((error: unknown) => fail(request, next, error));
    else if (next === undefined) sendReply(request, response, NOT_FOUND);
    else next();
  };
}

async function answer(receiver: Mountable, request: NodeRequest, response: NodeResponse): Promise<void> {
  const reply = await receiver.receive(toDelivery(request, response));
  sendReply(request, response, reply);
}

/** A response whose methods middleware has replaced can throw: then no other answer is possible. */
function fail(request: NodeRequest, next: ((error?: unknown) => void) | undefined, error: unknown): void {
  if (next === undefined) request.destroy();
  else next(error);
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
