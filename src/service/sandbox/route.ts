import { readHeaders } from '../../receiver/request/headers.ts';
import { type Answer, refusal } from './answer.ts';
import type { Endpoint } from './endpoint.ts';
import { readJson } from './json-body.ts';
import { baseAddressOf, type MountedRequest, targetOf } from './mounted-request.ts';
import { RefusedError } from './refused-error.ts';

/** Lets the endpoint of its path answer a request. */
export async function route(endpoints: readonly Endpoint[], request: MountedRequest): Promise<Answer> {
  const { path } = targetOf(request);
  for (const endpoint of endpoints) {
    const match = patternOf(endpoint.path).exec(path);
    if (match !== null) return answerAt(endpoint, request, decode(match[1] ?? ''));
  }
  throw new RefusedError(404, 'Not found', `${path} is not a path of the service or of the sandbox`);
}

/** Matches a path with or without a slash at its end. The group is the value of the parameter. */
function patternOf(path: string): RegExp {
  const parts = path.replaceAll('.', '\\.').replace(/\{\w+\}/, '([^/]+)');
  return new RegExp(`^${parts}/?$`);
}

function decode(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    throw new RefusedError(400, 'Invalid request', `${id} in the path cannot be decoded`);
  }
}

const methods = ['get', 'post', 'put'] as const;

async function answerAt(endpoint: Endpoint, request: MountedRequest, id: string): Promise<Answer> {
  const { guard } = endpoint;
  try {
    guard?.check(readHeaders(request.headersDistinct));
  } catch (error) {
    return refusal(error, { 'www-authenticate': guard?.challenge ?? '' });
  }
  const asked = request.method === 'HEAD' ? 'GET' : request.method;
  const method = methods.find((each) => each.toUpperCase() === asked);
  const handler = method && endpoint[method];
  if (handler === undefined) return methodNotAllowed(endpoint);
  const body = method === 'get' ? undefined : await readJson(request);
  const { path, search } = targetOf(request);
  const query = new URLSearchParams(search);
  return handler({ id, query, baseAddress: baseAddressOf(request), target: path + search, body });
}

function methodNotAllowed(endpoint: Endpoint): Answer {
  const served = methods.filter((method) => endpoint[method] !== undefined);
  const allow = served.join(', ').toUpperCase();
  return refusal(new RefusedError(405, 'Method not allowed', `allowed here: ${allow}`), { allow });
}
