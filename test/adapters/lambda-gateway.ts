import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type LambdaContext, type LambdaEvent, type LambdaHandler, toLambda } from 'posthorn/lambda';
import { listen, type Mount } from './endpoint.ts';
import {
  functionUrlEvent,
  type GatewayRequest,
  httpApiEvent,
  loadBalancerEvent,
  multiValueEvent,
  restApiEvent,
} from './lambda-events.ts';

/** What stands between HTTP and a function. */
export interface Gateway {
  readonly toEvent: (request: GatewayRequest) => object;
  /** The members of a result that it takes; with others its answer is 502. */
  readonly members: readonly string[];
  /** The one of them that holds the headers. */
  readonly headers: 'headers' | 'multiValueHeaders';
  /** What it passes on of a header that was sent twice. */
  readonly ofRepeatedHeaders: 'all' | 'joined' | 'the last';
}

const apiV1 = ['statusCode', 'headers', 'multiValueHeaders', 'body', 'isBase64Encoded'];
const apiV2 = ['statusCode', 'headers', 'cookies', 'body', 'isBase64Encoded'];
const balancer = [...apiV1, 'statusDescription'];

export const gateways: Readonly<Record<string, Gateway>> = {
  'API Gateway with payload format 1.0': {
    toEvent: restApiEvent,
    members: apiV1,
    headers: 'headers',
    ofRepeatedHeaders: 'all',
  },
  'API Gateway with payload format 2.0': {
    toEvent: httpApiEvent,
    members: apiV2,
    headers: 'headers',
    ofRepeatedHeaders: 'joined',
  },
  'a function URL': {
    toEvent: functionUrlEvent,
    members: apiV2,
    headers: 'headers',
    ofRepeatedHeaders: 'joined',
  },
  'a load balancer': {
    toEvent: loadBalancerEvent,
    members: balancer,
    headers: 'headers',
    ofRepeatedHeaders: 'the last',
  },
  'a load balancer with multi-value headers': {
    toEvent: multiValueEvent,
    members: balancer,
    headers: 'multiValueHeaders',
    ofRepeatedHeaders: 'all',
  },
};

// A function URL sends the event of payload format 2.0 with another domain, which the adapter does not read.
// That it is handled and answered alike is among the shapes of test/adapters/lambda.test.ts.
export const differentGateways: [name: string, gateway: Gateway][] = Object.entries(gateways).filter(
  ([name]) => name !== 'a function URL',
);

/** Serves a function behind one of the gateways, and behind middleware of its own. */
export function behind(
  gateway: Gateway,
  middleware: (event: LambdaEvent) => object = (event) => event,
): Mount {
  return (receiver) => {
    const handler = toLambda(receiver);
    const withMiddleware: LambdaHandler = (event, context) => handler(middleware(event), context);
    return listen(listenAs(gateway, withMiddleware));
  };
}

/** A function of Lambda: each library has types of its own for its event and its context. */
export type LambdaFunction = (event: LambdaEvent, context: LambdaContext) => Promise<object>;

/** Hands each request to a function as an event of a gateway. */
export function listenAs(gateway: Gateway, handler: LambdaFunction): RequestListener {
  return (incoming, response) => void invoke(handler, gateway, incoming, response);
}

/** Requests that do not arrive whole never come to the function. */
async function invoke(
  handler: LambdaFunction,
  gateway: Gateway,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const event = gateway.toEvent(await readRequest(incoming));
    const result = await handler(throughJson(event), { getRemainingTimeInMillis: () => 60_000 });
    sendResult(gateway, throughJson(result), response);
  } catch {
    response
      .writeHead(502, { 'content-type': 'application/json' })
      .end('{"message":"Internal server error"}');
  }
}

/** What Lambda takes and gives is text. */
function throughJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

async function readRequest(incoming: IncomingMessage): Promise<GatewayRequest> {
  const body = await buffer(incoming);
  const { rawHeaders, method = '', url = '' } = incoming;
  const sent = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as const] : [],
  );
  const headers = sent.filter(([name]) => !/^(connection|transfer-encoding|content-length)$/i.test(name));
  const target = url.replace(/^http:\/\/[^/]*/, '');
  return { method, target, headers: [...headers, ['content-length', String(body.length)]], body };
}

function sendResult(gateway: Gateway, result: object, response: ServerResponse): void {
  const { statusCode, body, isBase64Encoded, [gateway.headers]: headers } = Object(result);
  const unknown = Object.keys(result).filter((member) => !gateway.members.includes(member));
  const isGiven = typeof statusCode === 'number' && typeof headers === 'object';
  if (!isGiven || unknown.length > 0) throw new Error('a result in no known form');
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  response.writeHead(statusCode, { ...headers, 'content-length': bytes.length }).end(bytes);
}
