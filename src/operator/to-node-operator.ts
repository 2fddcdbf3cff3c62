import { types } from 'node:util';
import {
  checkRequest,
  hangUp,
  headersOf,
  type NodeRequest,
  type NodeResponse,
} from '../../adapters/node-http.ts';
import { sendReply } from '../../adapters/send-reply.ts';
import { pathsOf, urlOf } from '../../adapters/served-path.ts';
import { readHeaders } from '../receiver/request/headers.ts';
import { type OperatorAnswer, UNSERVED } from './answer.ts';
import type { Operable, OperableByName } from './operated-receiver.ts';
import { Operator } from './operator.ts';
import type { OperatorOptions } from './options.ts';
import { pathBelow } from './path-below.ts';
import { collect, readBefore } from './request-body.ts';

/** A request listener of Node.js http, and a middleware of Connect and Express. */
export type NodeOperatorHandler<R extends NodeRequest = NodeRequest> = (
  request: R,
  response: NodeResponse,
  next?: (error?: unknown) => void,
) => void;

/**
 * Serves the page and the interface of operators on Node.js http and Express, before or after
 * `express.json()`. Requests for other paths go to `next`, or get 404 without one. `authorize` gets the
 * request of Node.js as its second argument, with what middlewares have added, such as `user`.
 *
 * @throws ConfigurationError as `toOperator` does.
 *
 * @example
 * ```ts
 * import { toNodeOperator } from 'posthorn/operator';
 *
 * app.use(
 *   toNodeOperator(receiver, {
 *     path: '/operator',
 *     authorize: (_request, { user }: express.Request) => user && { name: user.email },
 *   }),
 * );
 * ```
 */
export function toNodeOperator<R extends NodeRequest = NodeRequest>(
  receivers: Operable | OperableByName,
  options: OperatorOptions<[R]>,
): NodeOperatorHandler<R> {
  const operator = new Operator('toNodeOperator', receivers, options);
  return (request, response, next) => {
    checkRequest(request);
    const path = pathBelow(operator.path, pathsOf(request));
    if (path === undefined && next !== undefined) return next();
    answer(operator, request, response, path).catch((error: unknown) => {
      if (next === undefined) hangUp(request);
      else next(error);
    });
  };
}

async function answer<R extends NodeRequest>(
  operator: Operator<[R]>,
  request: R,
  response: NodeResponse,
  path: string | undefined,
): Promise<void> {
  const webRequest = toWebRequest(request, response);
  if (path === undefined || webRequest === undefined) return send(request, response, UNSERVED);
  const readBody = () => readNodeBody(request);
  send(request, response, await operator.answer({ request: webRequest, path, readBody, context: [request] }));
}

/** The request without its body. Undefined for one that the web does not know, such as CONNECT. */
function toWebRequest(request: NodeRequest, response: NodeResponse): Request | undefined {
  const { method = 'GET' } = request;
  const headers = new Headers();
  try {
    for (const [name, values] of Object.entries(readHeaders(headersOf(request))))
      for (const value of values) if (!name.startsWith(':')) headers.append(name, value);
    const host = headers.get('host') ?? request.headers[':authority'] ?? 'localhost';
    return new Request(new URL(urlOf(request), `http://${host}`), {
      method,
      headers,
      signal: signalOf(response),
    });
  } catch {
    return undefined;
  }
}

/** Aborts once the operator has gone. */
function signalOf(response: NodeResponse): AbortSignal {
  const controller = new AbortController();
  response.once?.('close', () => controller.abort());
  return controller.signal;
}

/** The body, or what a body parser has made of it. */
async function readNodeBody(request: NodeRequest): Promise<Uint8Array | string> {
  const { body } = request;
  if (body !== undefined && !isUnread(request))
    return types.isUint8Array(body) || typeof body === 'string' ? body : JSON.stringify(body);
  if (request.readableDidRead) throw readBefore();
  // A request that is destroyed cannot be answered.
  return collect(request.iterator({ destroyOnReturn: false }));
}

/** The parsers of Express 4 set an empty object for a body that is not of their type. */
function isUnread({ body, readableDidRead }: NodeRequest): boolean {
  return !readableDidRead && typeof body === 'object' && body !== null && Object.keys(body).length === 0;
}

function send(request: NodeRequest, response: NodeResponse, { status, headers, body }: OperatorAnswer): void {
  sendReply(request, response, { status, headers, body, close: false, drainMs: DRAIN_MS });
}

/** Operators may be on a slow line. */
const DRAIN_MS = 10_000;
