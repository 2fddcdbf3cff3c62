import { isUtf8 } from 'node:buffer';
import type { ALBEvent, APIGatewayProxyEvent, APIGatewayProxyEventV2 } from 'aws-lambda';

/** An HTTP request, as it came to a gateway of AWS. */
export interface GatewayRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** As they were sent. A gateway reads chunks to their end, and passes the length on. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

/** Text comes as it is; what is none in its type or in its bytes comes in base64. */
function encoded({ body, headers }: GatewayRequest): { body: string; isBase64Encoded: boolean } {
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  const isCompressed = headers.some(([name]) => name.toLowerCase() === 'content-encoding');
  const isText = /^(text\/|application\/(json|javascript|xml))/.test(type) && !isCompressed && isUtf8(body);
  return { body: body.toString(isText ? 'utf8' : 'base64'), isBase64Encoded: !isText };
}

/** All values by name; a name that was sent in several cases counts once. */
function valuesOf(
  { headers }: GatewayRequest,
  nameOf: (name: string) => string = (name) => name.toLowerCase(),
): Record<string, string[]> {
  const known = new Map<string, [name: string, values: string[]]>();
  for (const [name, value] of headers) {
    const [, values] = known.get(name.toLowerCase()) ?? [nameOf(name), []];
    known.set(name.toLowerCase(), [nameOf(name), [...values, value]]);
  }
  return Object.fromEntries(known.values());
}

function mapValues(
  lists: Record<string, string[]>,
  join: (values: string[]) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(lists).map(([name, values]) => [name, join(values)]));
}

/** Path and query; without one the query is empty, as it is with an empty one. */
function partsOf({ target }: GatewayRequest): { path: string; query: string } {
  const [path = '', ...query] = target.split('?');
  return { path, query: query.join('?') };
}

/** All values by the name of their parameter. */
function parametersOf(request: GatewayRequest, read: (text: string) => string): Record<string, string[]> {
  const values: Record<string, string[]> = {};
  for (const pair of partsOf(request).query.split('&').filter(Boolean)) {
    const [name = '', ...value] = pair.split('=');
    values[read(name)] = [...(values[read(name)] ?? []), read(value.join('='))];
  }
  return values;
}

const decoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '));

const last = (values: string[]): string => values.at(-1) ?? '';

const identity = {
  accessKey: null,
  accountId: null,
  apiKey: null,
  apiKeyId: null,
  caller: null,
  clientCert: null,
  cognitoAuthenticationProvider: null,
  cognitoAuthenticationType: null,
  cognitoIdentityId: null,
  cognitoIdentityPoolId: null,
  principalOrgId: null,
  sourceIp: '192.0.2.7',
  user: null,
  userAgent: 'service/1.0',
  userArn: null,
};

/**
 * Of a REST API with a domain of its own, or payload format 1.0: names as they were sent, and every value of
 * each.
 */
export function restApiEvent(request: GatewayRequest): APIGatewayProxyEvent {
  const { method } = request;
  const { path, query } = partsOf(request);
  const parameters = parametersOf(request, decoded);
  const multiValueHeaders = valuesOf(request, (name) => name);
  const { body, isBase64Encoded } = encoded(request);
  return {
    resource: '/webhooks',
    path,
    httpMethod: method,
    headers: mapValues(multiValueHeaders, last),
    multiValueHeaders,
    queryStringParameters: query === '' ? null : mapValues(parameters, last),
    multiValueQueryStringParameters: query === '' ? null : parameters,
    pathParameters: null,
    stageVariables: null,
    requestContext: {
      accountId: '123456789012',
      apiId: 'a1b2c3d4e5',
      authorizer: null,
      protocol: 'HTTP/1.1',
      httpMethod: method,
      identity,
      path,
      stage: 'production',
      requestId: '7d3ac2f2-4a6c-4d7e-9d56-5c3f0d3c2b1a',
      requestTimeEpoch: 1_767_225_600_000,
      resourceId: 'r3s0rc',
      resourcePath: '/webhooks',
    },
    body: request.body.length === 0 ? null : body,
    isBase64Encoded,
  };
}

/**
 * Of an HTTP API, payload format 2.0: the path is decoded, values of one name are joined, and cookies stand
 * apart.
 */
export function httpApiEvent(request: GatewayRequest): APIGatewayProxyEventV2 {
  const { method } = request;
  const { path: sentPath, query } = partsOf(request);
  const path = decodeURIComponent(sentPath);
  const { cookie: cookies, ...others } = valuesOf(request);
  const { body, isBase64Encoded } = encoded(request);
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: query,
    ...(cookies !== undefined && { cookies }),
    headers: mapValues(others, (values) => values.join(',')),
    requestContext: {
      accountId: '123456789012',
      apiId: 'f6g7h8i9j0',
      domainName: 'f6g7h8i9j0.execute-api.eu-central-1.amazonaws.com',
      domainPrefix: 'f6g7h8i9j0',
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '192.0.2.7', userAgent: 'service/1.0' },
      requestId: 'JKJaXmPLvHcESHA=',
      routeKey: '$default',
      stage: '$default',
      time: '01/Jan/2026:00:00:00 +0000',
      timeEpoch: 1_767_225_600_000,
    },
    ...(request.body.length > 0 && { body }),
    isBase64Encoded,
  };
}

/** Of a function URL: format 2.0 with the path as it was sent, and another domain. */
export function functionUrlEvent(request: GatewayRequest): APIGatewayProxyEventV2 {
  const event = httpApiEvent(request);
  const domainPrefix = 'abcdefghijklmnopqrstuvwxyz012345';
  const domainName = `${domainPrefix}.lambda-url.eu-central-1.on.aws`;
  const rawPath = partsOf(request).path;
  return { ...event, rawPath, requestContext: { ...event.requestContext, domainPrefix, domainName } };
}

const targetGroup =
  'arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/receiver/6d0ecf831eec9f09';

/** Of a load balancer: names in lower case; the last value of a name that was sent twice, not decoded. */
export function loadBalancerEvent(request: GatewayRequest): ALBEvent {
  const { multiValueHeaders: _, multiValueQueryStringParameters: __, ...event } = multiValueEvent(request);
  return {
    ...event,
    queryStringParameters: mapValues(parametersOf(request, String), last),
    headers: mapValues(valuesOf(request), last),
  };
}

/** Of a load balancer whose target group has multi-value headers turned on. */
export function multiValueEvent(request: GatewayRequest): ALBEvent {
  return {
    requestContext: { elb: { targetGroupArn: targetGroup } },
    httpMethod: request.method,
    path: partsOf(request).path,
    multiValueQueryStringParameters: parametersOf(request, String),
    multiValueHeaders: valuesOf(request),
    ...encoded(request),
  };
}
