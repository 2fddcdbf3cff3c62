import { STATUS_CODES } from 'node:http';
import { checkReceiver } from '../src/receiver/checks/check-options.ts';
import { ConfigurationError } from '../src/receiver/errors.ts';
import type { Delivery, Reply } from '../src/receiver/request/delivery.ts';
import type { HeaderFields } from '../src/receiver/request/headers.ts';
import type { RawBody } from '../src/receiver/request/raw-body.ts';
import { dropPromise, propertyOf, show, typeNameOf } from '../src/receiver/values/foreign-values.ts';
import type { Mountable } from '../src/receiver-interface.ts';
import type { LambdaEvent } from './lambda-event.ts';
import { urlOf } from './lambda-url.ts';

export type { LambdaEvent, LambdaHeaders, LambdaParameters } from './lambda-event.ts';

/** The part of the context of Lambda that is read. */
export interface LambdaContext {
  /** Milliseconds until Lambda stops the function. */
  getRemainingTimeInMillis?(): number;
}

/** The answer in the form that the sender of the event takes. */
export interface LambdaResult {
  /** The status of the reply. */
  readonly statusCode: number;
  /** Only a load balancer reads it. */
  readonly statusDescription?: string;
  /** The headers, with one value for each name. */
  readonly headers?: { [name: string]: string };
  /** The headers for a load balancer with multi-value headers, which reads no `headers`. */
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
 * `deadlineMs`, whichever comes first. If an event has `multiValueHeaders` and `headers`, as on Netlify, the
 * first counts. `callbackWaitsForEmptyEventLoop` has no effect: it is for handlers with a callback.
 *
 * @throws ConfigurationError for a value that is not a receiver. The handler rejects with it for an event
 * that is not an HTTP request, such as one of SQS.
 *
 * @example
 * ```ts
 * import { toLambda } from 'posthorn/lambda';
 *
 * export const handler = toLambda(receiver);
 * ```
 */
export function toLambda(receiver: Mountable): LambdaHandler {
  checkReceiver(receiver, 'toLambda', ['receive']);
  return async (event, context) => {
    const reply = await receiver.receive(toDelivery(event, readTimeLimit(context)));
    return toResult(event, reply);
  };
}

/** Presents an event as a delivery. Throws {@link ConfigurationError} for one that is not an HTTP request. */
function toDelivery(event: LambdaEvent, timeLimitMs: number | undefined): Delivery {
  const http = propertyOf(propertyOf(event, 'requestContext'), 'http');
  const method = propertyOf(http, 'method') ?? propertyOf(event, 'httpMethod');
  if (typeof method !== 'string') throw notARequest(event);
  return {
    method,
    headers: headersOf(event),
    url: urlOf(event),
    readBody: () => readBody(event),
    timeLimitMs,
  };
}

/** Netlify spells a name in lower case in one of the objects, and with capitals in the other. */
function headersOf({ headers, multiValueHeaders }: LambdaEvent): HeaderFields {
  const lists = Object.entries(multiValueHeaders ?? {}).filter(([, values]) => values?.length);
  const names = new Set(lists.map(([name]) => name.toLowerCase()));
  const others = Object.entries(headers ?? {}).filter(([name]) => !names.has(name.toLowerCase()));
  return [...lists, ...others];
}

/** Text is passed on as such: it stands for its bytes in UTF-8. */
function readBody({ body, isBase64Encoded }: LambdaEvent): RawBody {
  const given = body ?? '';
  if (typeof given === 'string') return isBase64Encoded === true ? Buffer.from(given, 'base64') : given;
  throw new ConfigurationError(
    `event.body was parsed before posthorn could verify it (it is not a string, but ${typeNameOf(given)}): ` +
      "keep middleware such as middy's httpJsonBodyParser away from this function",
    { code: 'body_already_parsed' },
  );
}

/** Lambda logs it, and an asynchronous source sends the event again, or to its dead-letter queue. */
function notARequest(event: unknown): ConfigurationError {
  return new ConfigurationError(
    'this handler takes HTTP requests of Lambda: events of API Gateway (payload format 1.0 or 2.0), of an ' +
      `Application Load Balancer or of a function URL, as they come; got ${sourceOf(event)}`,
  );
}

/** SQS, S3, Kinesis and DynamoDB name themselves in each record, SNS likewise, EventBridge in `source`. */
function sourceOf(event: unknown): string {
  const record = propertyOf(propertyOf(event, 'Records'), 0);
  const source =
    propertyOf(record, 'eventSource') ?? propertyOf(record, 'EventSource') ?? propertyOf(event, 'source');
  if (typeof source === 'string') return `an event of ${show(source)}`;
  if (propertyOf(propertyOf(event, 'requestContext'), 'connectionId') !== undefined)
    return 'an event of a WebSocket API';
  if (typeof event !== 'object' || event === null) return typeNameOf(event);
  return `an object with the members ${show(Object.keys(event).join(', '))}`;
}

/**
 * Returns undefined if the runtime does not say how much time is left. A value that is not a number becomes
 * NaN, which the receiver refuses by name.
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
