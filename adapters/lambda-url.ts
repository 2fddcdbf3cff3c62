import { propertyOf } from '../src/receiver/values/foreign-values.ts';
import type { LambdaEvent } from './lambda-event.ts';

/**
 * Path and query of an event, as near to what the sender wrote as the platform tells. Without a path it is
 * undefined.
 */
export function urlOf(event: LambdaEvent): string | undefined {
  const path = pathOf(event);
  if (typeof path !== 'string') return undefined;
  const query = queryOf(event);
  return query === '' ? encodedPath(path) : `${encodedPath(path)}?${query}`;
}

/**
 * `path` of format 1.0 lacks the stage that is a part of the address, and `requestContext.path` has it
 * (https://github.com/localstack/localstack/pull/12296). Behind a domain that is mapped to a named stage, the
 * path of an HTTP API has the stage and not the mapping
 * (https://github.com/CodeGenieApp/serverless-express/issues/465).
 */
function pathOf(event: LambdaEvent): unknown {
  return event.rawPath ?? propertyOf(event.requestContext, 'path') ?? event.path;
}

/**
 * HTTP APIs decode the path; REST APIs, function URLs and load balancers do not
 * (https://github.com/middleapi/standard-server/pull/93). So only characters that a path cannot contain are
 * encoded. A `%2F` stays a slash, because the HTTP API has decoded it.
 */
function encodedPath(path: string): string {
  return path.replace(/[^!-~]+|[?#]|%(?![\da-f]{2})/gi, encoded);
}

/** The query as it was sent, if the platform tells; else its parameters, those of one name together. */
function queryOf(event: LambdaEvent): string {
  if (typeof event.rawQueryString === 'string') return event.rawQueryString;
  const write = propertyOf(event.requestContext, 'elb') === undefined ? encoded : asItIs;
  const parameters = Object.entries(
    event.multiValueQueryStringParameters ?? event.queryStringParameters ?? {},
  );
  return parameters
    .flatMap(([name, values]) => textsOf(values).map((value) => `${write(name)}=${write(value)}`))
    .join('&');
}

/** Middleware may have parsed the values. */
function textsOf(values: readonly string[] | string | undefined): readonly string[] {
  return [values ?? []].flat().filter((value) => typeof value === 'string');
}

/**
 * A load balancer does not decode
 * (https://docs.aws.amazon.com/elasticloadbalancing/latest/application/lambda-functions.html).
 */
function asItIs(text: string): string {
  return text;
}

/** API Gateway decodes, so the spelling that was sent is not known: a space may have been `+`. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
