import { STATUS_CODES } from 'node:http';
import { dropPromise, propertyOf } from '../src/foreign-values.ts';
import type { Reply } from '../src/request/delivery.ts';
import { type LambdaEvent, toDelivery } from './lambda-event.ts';
import { checkReceiver, type Mountable } from './mountable.ts';

export type { LambdaEvent, LambdaHeaders } from './lambda-event.ts';

/** The part of the context of Lambda that is read. */
export interface LambdaContext {
  /** Milliseconds until Lambda stops the function. */
  getRemainingTimeInMillis?(): number;
}

/** The answer in the form that the sender of the event takes. */
export interface LambdaResult {
  /** The status of the reply. */
  readonly statusCode: number;
  /** For a load balancer only. */
  readonly statusDescription?: string;
  /** One value of each name. */
  readonly headers?: { [name: string]: string };
  /** In the place of `headers`, for a load balancer that sends such headers. */
  readonly multiValueHeaders?: { [name: string]: string[] };
  /** The JSON of the reply. */
  readonly body: string;
  /** The body is text. */
  readonly isBase64Encoded: false;
}

/** A handler of Lambda. It has two parameters: runtimes from Node.js 24 on refuse a third. */
export type LambdaHandler = (event: LambdaEvent, context?: LambdaContext) => Promise<LambdaResult>;

/** The time that is kept back for the way of the answer from the handler to Lambda. */
const MARGIN_MS = 500;

/**
 * Mounts a receiver on AWS Lambda, behind API Gateway (payload format 1.0 or 2.0), an Application Load
 * Balancer or a function URL. A delivery is answered 500 ms before the function's time ends, or at
 * `deadlineMs`, whichever comes first.
 *
 * @throws ConfigurationError for what is no receiver. The handler rejects with it for an event that is no
 * HTTP request, such as one of SQS.
 *
 * @example
 * ```ts
 * export const handler = toLambda(receiver);
 * ```
 */
export function toLambda(receiver: Mountable): LambdaHandler {
  checkReceiver(receiver, 'toLambda');
  return async (event, context) => {
    const reply = await receiver.receive(toDelivery(event, readTimeLimit(context)));
    return toResult(event, reply);
  };
}

/**
 * Undefined where the runtime does not tell how much time is left. What is not a number becomes NaN, which
 * the receiver refuses by name.
 */
function readTimeLimit(context: LambdaContext | null | undefined): number | undefined {
  if (typeof context?.getRemainingTimeInMillis !== 'function') return undefined;
  const leftMs: unknown = context.getRemainingTimeInMillis();
  dropPromise(leftMs);
  return typeof leftMs === 'number' ? leftMs - MARGIN_MS : Number.NaN;
}

function toResult(event: LambdaEvent, { status, headers, body }: Reply): LambdaResult {
  const result = { statusCode: status, body, isBase64Encoded: false } as const;
  // API Gateway refuses a result with members that it does not know.
  if (propertyOf(event.requestContext, 'elb') === undefined) return { ...result, headers: { ...headers } };
  const forBalancer = { ...result, statusDescription: `${status} ${STATUS_CODES[status]}` };
  if (event.multiValueHeaders == null) return { ...forBalancer, headers: { ...headers } };
  const lists = Object.entries(headers).map(([name, value]) => [name, [value]]);
  return { ...forBalancer, multiValueHeaders: Object.fromEntries(lists) };
}
