import { ConfigurationError } from '../errors.ts';
import { dropPromise, messageOf, show } from '../values/foreign-values.ts';

/** The answer to a request that is not an event. */
export interface HandshakeReply {
  readonly body: string;
  readonly contentType: string;
}

/** Adapters buffer a reply, and no sender asks for a long one. */
const MAX_BYTES = 65_536;

/**
 * Turns the result of `handshake` into a reply: a text, or an object as JSON. Throws ConfigurationError for
 * another value, which is a mistake of the provider.
 */
export function toHandshakeReply(result: string | object): HandshakeReply {
  const isText = typeof result === 'string';
  const body = isText ? result : toJson(result);
  const size = Buffer.byteLength(body);
  if (size > MAX_BYTES) throw wrongResult(`returned ${size} bytes`);
  return { body, contentType: isText ? 'text/plain; charset=utf-8' : 'application/json' };
}

function toJson(result: unknown): string {
  if (typeof result !== 'object' || result === null) throw wrongResult(`returned ${show(result)}`);
  // A function that is async by mistake returns a promise.
  if (dropPromise(result)) throw wrongResult('returned a promise');
  let json: unknown;
  try {
    json = JSON.stringify(result);
  } catch (error) {
    throw wrongResult(`returned an object that has no JSON: ${messageOf(error)}`);
  }
  if (typeof json !== 'string') throw wrongResult('returned an object that has no JSON');
  return json;
}

function wrongResult(problem: string): ConfigurationError {
  return new ConfigurationError(
    `handshake of the provider ${problem}: it must return a text or an object of at most ${MAX_BYTES} bytes, ` +
      'or undefined for an event',
  );
}
