import { readHeaders } from '../../receiver/request/headers.ts';
import { type Answer, refusal } from './answer.ts';
import type { Endpoint, Handler } from './endpoint.ts';
import { readJson } from './json-body.ts';
import { baseAddressOf, type MountedRequest, targetOf } from './mounted-request.ts';
import { RefusedError } from './refused-error.ts';

/** Lets the endpoint of its path answer a request. */
export async function route(endpoints: readonly Endpoint[], request: MountedRequest): Promise<Answer> {
  const { path } = targetOf(request);
  for (const endpoint of endpoints) {
    const id = matchPath(endpoint.path, path);
    if (id !== undefined) return answerAt(endpoint, request, decode(id));
  }
  throw new RefusedError(404, 'Not found', `${path} is not a path of the service or of the sandbox`);
}

/** The value of the parameter, empty if the pattern has none; undefined for another path. */
function matchPath(pattern: string, path: string): string | undefined {
  const wanted = pattern.split('/');
  const given = path.replace(/\/$/, '').split('/');
  if (given.length !== wanted.length) return undefined;
  let id = '';
  for (const [index, segment] of given.entries()) {
    if (segment !== '' && wanted[index]?.startsWith('{')) id = segment;
    else if (segment !== wanted[index]) return undefined;
  }
  return id;
}

function decode(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    throw new RefusedError(400, 'Invalid request', `${id} in the path cannot be decoded`);
  }
}

async function answerAt(endpoint: Endpoint, request: MountedRequest, id: string): Promise<Answer> {
  const { guard } = endpoint;
  try {
    guard?.check(readHeaders(request.headersDistinct));
  } catch (error) {
    return refusal(error, { 'www-authenticate': guard?.challenge ?? '' });
  }
  const handler = handlerOf(endpoint, request.method);
  if (handler === undefined) return methodNotAllowed(endpoint);
  const body = handler === endpoint.get ? undefined : await readJson(request);
  const { path, search } = targetOf(request);
  const query = new URLSearchParams(search);
  return handler({ id, query, baseAddress: baseAddressOf(request), target: path + search, body });
}

function handlerOf({ get, post, put }: Endpoint, method: string | undefined): Handler | undefined {
  switch (method) {
    case 'GET':
    case 'HEAD':
      return get;
    case 'POST':
      return post;
    case 'PUT':
      return put;
    default:
      return undefined;
  }
}

function methodNotAllowed({ get, post, put }: Endpoint): Answer {
  const methods = Object.entries({ GET: get, POST: post, PUT: put });
  const allow = methods.flatMap(([method, handler]) => (handler === undefined ? [] : [method])).join(', ');
  return refusal(new RefusedError(405, 'Method not allowed', `allowed here: ${allow}`), { allow });
}
