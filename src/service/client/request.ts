import { checkOptions } from '../../receiver/checks/check-options.ts';
import { ConfigurationError } from '../../receiver/errors.ts';
import { messageOf, show } from '../../receiver/values/foreign-values.ts';
import type { Area, CallOptions } from './options.ts';
import { type Query, withQuery } from './query.ts';
import type { Service } from './service.ts';

/** A method of HTTP. */
export type RequestMethod = (typeof METHODS)[number];

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** The options of a request of your own. */
export interface RequestOptions extends CallOptions {
  /** The client's credentials to send; `none` for an operation without credentials, such as the login. */
  readonly credentials: Area | 'none';
  /** The parameters to add to the path. */
  readonly query?: Query | undefined;
  /** The body, sent as JSON. A GET does not take one. */
  readonly body?: unknown;
  /**
   * True if the request may be sent again after a temporary failure; by default only a GET is. Set true only
   * if a second request has no further effect.
   */
  readonly repeatable?: boolean | undefined;
  /** Texts of the request that must not appear in an error, besides the client's credentials. */
  readonly secrets?: readonly string[] | undefined;
}

/** An answer of 2xx as it came, unchecked. */
export interface ServiceAnswer {
  /** The status of HTTP, from 200 to 299. */
  readonly status: number;
  /** The body as it came; may be empty. */
  readonly text: string;
  /** The parsed body; undefined if it is not JSON. */
  readonly body: unknown;
}

/** See `Client.request`. */
export type SendRequest = (
  method: RequestMethod,
  path: string,
  options: RequestOptions,
) => Promise<ServiceAnswer>;

export function createRequest(service: Service): SendRequest {
  const name = 'client.request';
  return async (method, path, options) => {
    checkMethod(method);
    checkPath(path);
    checkRequestOptions(method, options);
    const { credentials, query, repeatable = method === 'GET', body, secrets, ...callOptions } = options;
    const request = { name, area: credentials, method, path: withQuery(path, query ?? {}, name) };
    return (await service({ ...request, body, secrets, repeatable }, callOptions)).raw();
  };
}

function checkMethod(method: unknown): void {
  if (METHODS.some((known) => known === method)) return;
  throw new ConfigurationError(
    `the method of client.request must be ${METHODS.join(', ')}, got ${show(method)}`,
  );
}

/**
 * The credentials are for one host, so the path must not lead elsewhere. If the URL parser leaves it
 * unchanged, it does not contain dot segments, line breaks or backslashes.
 */
function checkPath(path: unknown): void {
  const isPath = typeof path === 'string' && path.startsWith('/') && !path.includes('#');
  if (isPath && new URL(`http://host${path}`).href === `http://host${path}`) return;
  throw new ConfigurationError(
    'the path of client.request must begin with "/" and be percent-encoded, without "." and ".." as ' +
      `parts and without a fragment, for example "/payments/na/webhooks/WH1"; got ${show(path)}`,
  );
}

/** Does not show values of the body, or secrets. */
function checkRequestOptions(method: RequestMethod, options: RequestOptions): void {
  const names = ['credentials', 'query', 'body', 'repeatable', 'secrets', 'signal'];
  checkOptions(options, names, 'client.request');
  const { credentials, body, repeatable, secrets = [] } = options;
  if (!['banking', 'profile', 'administrator', 'none'].includes(credentials)) {
    throw new ConfigurationError(
      'credentials of client.request must be "banking", "profile", "administrator" or "none"',
    );
  }
  if (repeatable !== undefined && typeof repeatable !== 'boolean') {
    throw new ConfigurationError('repeatable of client.request must be true or false');
  }
  if (!Array.isArray(secrets) || !secrets.every((secret) => typeof secret === 'string')) {
    throw new ConfigurationError('secrets of client.request must be a list of strings');
  }
  if (body !== undefined && method === 'GET') {
    throw new ConfigurationError('a GET of client.request takes no body: give parameters as query');
  }
  checkBody(body);
}

function checkBody(body: unknown): void {
  if (body === undefined) return;
  let problem = 'it is not a value of JSON';
  try {
    if (JSON.stringify(body) !== undefined) return;
  } catch (thrown) {
    problem = messageOf(thrown);
  }
  throw new ConfigurationError(`body of client.request cannot be sent as JSON: ${problem}`);
}
