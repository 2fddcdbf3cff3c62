import { addAbortSignal, finished, Readable } from 'node:stream';
import { types } from 'node:util';
import getRawBody from 'raw-body';
import { ConfigurationError } from '../src/receiver/errors.ts';
import type { BodyOptions } from '../src/receiver/request/delivery.ts';
import { propertyOf } from '../src/receiver/values/foreign-values.ts';
import { BodyBuffer, incomplete, tooLarge } from './body-buffer.ts';
import type { NodeRequest } from './node-http.ts';

/**
 * Reads the body of a request, byte for byte. If a framework has kept the raw body (`req.rawBody`, or the
 * Buffer of `express.raw()`), it is returned. Otherwise the stream is read, unless something else has read it
 * before.
 */
export function readRawBody(request: NodeRequest, options: BodyOptions): Uint8Array | Promise<Uint8Array> {
  const rawBody = keptRawBody(request);
  if (rawBody !== undefined) return rawBody;
  // Checked first: once the sender has reset an HTTP/2 stream, Node.js itself reads it to its end.
  if (request.aborted) throw incomplete(new Error('the sender gave up'));
  if (request.readableDidRead || request.readableEnded || request.readableEncoding !== null) {
    throw alreadyParsed(request);
  }
  if (request.destroyed) throw incomplete(new Error('the connection was closed'));
  const length = request.headers['content-length'] ?? null;
  // Most bodies arrive together with their headers, and wait in the stream.
  if (request.complete && length !== null && Number(length) === request.readableLength) {
    const whole: Uint8Array | null = request.read();
    return whole ?? EMPTY;
  }
  return readStream(request, options, length);
}

async function readStream(
  request: NodeRequest,
  options: BodyOptions,
  length: string | null,
): Promise<Uint8Array> {
  const limit = options.maxBytes;
  const blocks = inBlocks(request, options);
  try {
    return await getRawBody(blocks, { limit, length });
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    throw propertyOf(error, 'type') === 'entity.too.large' ? tooLarge(limit, error) : incomplete(error);
  } finally {
    blocks.destroy();
  }
}

/**
 * The body of a request as a stream of a few blocks. raw-body keeps a list of all chunks that it gets, and
 * does not report how much they hold. A body over the limit is passed on at once, for raw-body to refuse.
 */
function inBlocks(request: NodeRequest, options: BodyOptions): Readable {
  const buffer = new BodyBuffer(options);
  const passOn = (): void => {
    for (const block of buffer.take()) blocks.push(block);
  };
  const add = (chunk: Buffer | string): void => {
    // Another listener has called `setEncoding` meanwhile. An error that is thrown here ends the process.
    if (typeof chunk === 'string') return void blocks.destroy(alreadyParsed(request));
    buffer.add(chunk);
    if (buffer.length > options.maxBytes) passOn();
  };
  const blocks = new Readable({
    // The request flows until its end, or until this stream is destroyed.
    read: () => {},
    destroy: (error, done) => {
      stopWatching();
      request.off('data', add).pause();
      buffer.take();
      done(error);
    },
  });
  const stopWatching = finished(request, { writable: false }, (error) => {
    if (error) {
      blocks.destroy(error);
    } else {
      passOn();
      blocks.push(null);
    }
  });
  request.on('data', add).resume();
  return addAbortSignal(options.signal, blocks);
}

const EMPTY = new Uint8Array(0);

function keptRawBody({ rawBody, body }: NodeRequest): Uint8Array | undefined {
  if (types.isUint8Array(rawBody)) return rawBody;
  if (typeof rawBody === 'string') return Buffer.from(rawBody);
  return types.isUint8Array(body) ? body : undefined;
}

function alreadyParsed(request: NodeRequest): ConfigurationError {
  return new ConfigurationError(
    `the body was read before posthorn could verify it ${request.body === undefined ? OTHER_READER : EXPRESS_PARSER}`,
    { code: 'body_already_parsed' },
  );
}

const EXPRESS_PARSER =
  '(req.body is set): mount posthorn before express.json() and other body parsers, or give this path ' +
  'express.raw({ type: "*/*" }), or keep the bytes in req.rawBody, as NestJS does if the application is created by ' +
  'NestFactory.create(AppModule, { rawBody: true })';

const OTHER_READER =
  '(req.body is not set): mount posthorn before all else that reads the request, such as the body parser on Koa, ' +
  'which fills ctx.request.body, and a preParsing hook on Fastify; or keep the bytes in rawBody of the request of ' +
  'Node.js (ctx.req on Koa, request.raw on Fastify)';
