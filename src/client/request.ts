import { checkOptions } from '../check-options.ts';
import { ConfigurationError } from '../errors.ts';
import { messageOf, show } from '../foreign-values.ts';
import type { Area, CallOptions } from './options.ts';
import { type Query, withQuery } from './query.ts';
import type { Service } from './service.ts';

/** A method of HTTP. */
export type RequestMethod = (typeof METHODS)[number];

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** How a request of one's own is sent. */
export interface RequestOptions extends CallOptions {
  /** Which of the client's credentials are sent; `none` for an operation that takes none, as the login. */
  readonly credentials: Area | 'none';
  /** Parameters that are added to the path. */
  readonly query?: Query | undefined;
  /** Sent as JSON. A GET takes none. */
  readonly body?: unknown;
  /**
   * Whether the request may be sent again after a failure that may pass; by default only a GET. True is right
   * only where a second one changes nothing that the first has not.
   */
  readonly repeatable?: boolean | undefined;
  /** Texts of the request that no error may show, besides the client's credentials. */
  readonly secrets?: readonly string[] | undefined;
}

/** An answer of 2xx as it came. It is not checked. */
export interface ServiceAnswer {
  /** The status of HTTP, from 200 to 299. */
  readonly status: number;
  /** The body as it came; may be empty. */
  readonly text: string;
  /** The body, parsed; undefined where it is no JSON. */
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
    const { credentials, query, body, repeatable, secrets, ...callOptions } = readRequestOptions(
      method,
      options,
    );
    const answer = await service(
      {
        name,
        area: credentials,
        method,
        path: withQuery(path, query ?? {}, name),
        body,
        secrets,
        repeatable: repeatable ?? method === 'GET',
      },
      callOptions,
    );
    return answer.raw();
  };
}

function checkMethod(method: unknown): void {
  if (METHODS.some((known) => known === method)) return;
  throw new ConfigurationError(
    `the method of client.request must be ${METHODS.join(', ')}, got ${show(method)}`,
  );
}

/**
 * The credentials are for one host: what the base address is joined with must not lead elsewhere. A path that
 * the parser of URLs leaves as it is has no dot segments, line breaks or backslashes.
 */
function checkPath(path: unknown): void {
  const isPath = typeof path === 'string' && path.startsWith('/') && !path.includes('#');
  if (isPath && new URL(`http://host${path}`).href === `http://host${path}`) return;
  throw new ConfigurationError(
    'the path of client.request must begin with "/" and be encoded as it is sent, without "." and ".." as ' +
      `parts and without a fragment, for example "/payments/na/webhooks/WH1"; got ${show(path)}`,
  );
}

/** Shows no value of the body and no secret. */
function readRequestOptions(method: RequestMethod, options: RequestOptions): RequestOptions {
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
  return options;
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
