/*
 * An adapter to begin with, for any framework with the `Request` and `Response` of the web. posthorn has one
 * for these: `toFetch` of `posthorn/fetch`, which also closes connections and keeps the process alive. A test
 * holds this one to the cases of `adapterConformance`: test/examples/adapter.program.test.ts.
 */

import { type BodyOptions, ConfigurationError, type Receiver, RequestError } from 'posthorn';

/** Mounts a receiver. The framework routes. */
export function toMyFramework(receiver: Pick<Receiver, 'receive'>): (request: Request) => Promise<Response> {
  return async (request) => {
    const reply = await receiver.receive({
      method: request.method,
      headers: request.headers,
      url: request.url.slice(new URL(request.url).origin.length),
      readBody: (options) => readBody(request, options),
    });
    return new Response(reply.body, { status: reply.status, headers: reply.headers });
  };
}

/** Stops at the limit, and when the receiver gives up on the body. */
async function readBody(
  request: Request,
  { maxBytes, signal, onProgress }: BodyOptions,
): Promise<Uint8Array> {
  if (request.bodyUsed)
    throw new ConfigurationError('the body was read before', { code: 'body_already_parsed' });
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of request.body ?? []) {
      signal.throwIfAborted();
      length += chunk.length;
      if (length > maxBytes)
        throw new RequestError('body_too_large', `the body has more than ${maxBytes} bytes`);
      chunks.push(chunk);
      onProgress?.(length);
    }
  } catch (error) {
    if (error instanceof RequestError) throw error;
    throw new RequestError('body_incomplete', 'the body was cut short', { cause: error });
  }
  return Buffer.concat(chunks);
}
