import { ConfigurationError } from '../src/errors.ts';
import { propertyOf, show, typeNameOf } from '../src/foreign-values.ts';
import type { Delivery } from '../src/request/delivery.ts';
import type { RawBody } from '../src/request/raw-body.ts';

/** The part of an HTTP event of Lambda that is read. Its members are checked when it comes. */
export interface LambdaEvent {
  /** API Gateway's payload format 1.0, and an Application Load Balancer. */
  readonly httpMethod?: string | undefined;
  /** Tells format 2.0 by its `http`, and a load balancer by its `elb`. */
  readonly requestContext?: object | undefined;
  /** One value of each name; format 2.0 joins those of a name that was sent twice. */
  readonly headers?: LambdaHeaders<string> | null | undefined;
  /** They win over `headers`, which have only one value of each name. */
  readonly multiValueHeaders?: LambdaHeaders<readonly string[]> | null | undefined;
  /** Text, or bytes in Base64; null or absent where there is none. */
  readonly body?: string | null | undefined;
  /** Whether `body` is in Base64. */
  readonly isBase64Encoded?: boolean | undefined;
}

/** Values of headers by name. */
export interface LambdaHeaders<Value> {
  /** Names in any case. */
  readonly [name: string]: Value | undefined;
}

/** Presents an event as a delivery. Throws {@link ConfigurationError} for one that is no HTTP request. */
export function toDelivery(event: LambdaEvent, timeLimitMs: number | undefined): Delivery {
  const http = propertyOf(propertyOf(event, 'requestContext'), 'http');
  const method = propertyOf(http, 'method') ?? propertyOf(event, 'httpMethod');
  if (typeof method !== 'string') throw noRequest(event);
  return {
    method,
    headers: { ...event.headers, ...event.multiValueHeaders },
    readBody: () => readBody(event),
    timeLimitMs,
  };
}

/** Text is passed on as such: it stands for its bytes in UTF-8. */
function readBody({ body, isBase64Encoded }: LambdaEvent): RawBody {
  const given = body ?? '';
  if (typeof given === 'string') return isBase64Encoded === true ? Buffer.from(given, 'base64') : given;
  throw new ConfigurationError(
    `event.body was parsed before posthorn could verify it (it is no string, but ${typeNameOf(given)}): ` +
      "keep middleware such as middy's httpJsonBodyParser away from this function",
    { code: 'body_already_parsed' },
  );
}

/** Lambda logs it, and an asynchronous source sends the event again, or to its dead-letter queue. */
function noRequest(event: unknown): ConfigurationError {
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
