import getRawBody from 'raw-body';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import { checkDepth } from './json-depth.ts';
import type { MountedRequest } from './mounted-request.ts';
import { RefusedError } from './refused-error.ts';

/** Far above the default limit of receivers, so that an event can exceed it. */
const MAX_BODY_BYTES = 8_388_608;

/**
 * Reads an object or a list; a missing body counts as an empty object. A body that a parser has read is taken
 * as it is.
 */
export async function readJson(request: MountedRequest): Promise<unknown> {
  requireJson(request);
  const value = request.body === undefined ? await readValue(request) : request.body;
  checkDepth(value);
  return value;
}

async function readValue(request: MountedRequest): Promise<unknown> {
  const text = await readText(request);
  const value = text === '' ? {} : parse(text);
  if (typeof value === 'object' && value !== null) return value;
  throw new RefusedError(400, 'Invalid request', 'the body must be a JSON object');
}

/**
 * Requires the content type, even without a body. An HTML form or a `no-cors` fetch cannot send it, so a web
 * page cannot make a browser change something here without asking first.
 */
function requireJson({ headers }: MountedRequest): void {
  const given = headers['content-type'];
  const [type = ''] = given?.split(';') ?? [];
  if (type.trim().toLowerCase() !== 'application/json') {
    const details =
      given === undefined
        ? 'send Content-Type: application/json, also without a body'
        : 'send the body with Content-Type: application/json';
    throw new RefusedError(415, 'Unsupported media type', details);
  }
  const { 'content-encoding': encoding = 'identity' } = headers;
  if (encoding.toLowerCase() === 'identity') return;
  throw new RefusedError(415, 'Unsupported media type', 'send the body without Content-Encoding');
}

async function readText(request: MountedRequest): Promise<string> {
  const length = request.headers['content-length'] ?? null;
  try {
    // RFC 8259, section 8.1: JSON is UTF-8, whatever parameters its type has.
    return await getRawBody(request, { limit: MAX_BODY_BYTES, length, encoding: 'utf-8' });
  } catch (error) {
    // The sender may not read an answer before it has sent everything.
    request.resume();
    throw error;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RefusedError(400, 'Invalid request', messageOf(error));
  }
}
