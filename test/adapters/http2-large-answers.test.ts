import { once } from 'node:events';
import { type ClientHttp2Stream, connect, constants, createServer } from 'node:http2';
import { toNodeOperator } from 'posthorn/operator';
import { expect, onTestFinished, test, vi } from 'vitest';
import { sendReply } from '../../adapters/send-reply.ts';
import { createOperated, idOf, letter } from '../operator/operated.ts';
import { fakeTime } from '../support/fake-time.ts';
import { listenUntilTheEnd } from '../support/listen.ts';

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR } = constants;
const EIGHT_MEGABYTES = 8 * 1_048_576;
const LETTER = `/operator/api/dead-letters/${idOf(1)}`;

/** Asks a server of HTTP/2, and takes of its answer what one window holds. */
async function ask(listener: Parameters<typeof createServer>[1], path = '/'): Promise<ClientHttp2Stream> {
  const session = connect(await listenUntilTheEnd(createServer(listener)));
  onTestFinished(() => session.destroy());
  const stream = session.request({ ':path': path });
  await once(stream, 'response');
  return stream;
}

function askOperator(): Promise<ClientHttp2Stream> {
  const parked = [letter(1, { rawBody: Buffer.alloc(EIGHT_MEGABYTES, 'x') })];
  const { receiver } = createOperated({ parked });
  return ask(toNodeOperator(receiver, { path: '/operator', authorize: seesBodies }), LETTER);
}

const seesBodies = () => ({ name: 'ada', bodies: true });

async function lengthOf(stream: ClientHttp2Stream): Promise<number> {
  let length = 0;
  for await (const chunk of stream) length += chunk.length;
  return length;
}

test('over HTTP/2: an answer of 8 MB that is read slowly arrives whole', async () => {
  fakeTime();
  const stream = await askOperator();
  vi.advanceTimersByTime(60_000);
  expect(await lengthOf(stream)).toBeGreaterThan(EIGHT_MEGABYTES);
  expect(stream.rstCode).toBe(NGHTTP2_NO_ERROR);
});

test('over HTTP/2: the part of an answer of 8 MB that was taken in half an hour does not look whole', async () => {
  fakeTime();
  const stream = await askOperator();
  const closed = once(stream, 'close');
  vi.advanceTimersByTime(1_800_000);
  await closed;
  expect(stream.rstCode).toBe(NGHTTP2_CANCEL);
});

test('over HTTP/2: a large answer is cut off once nothing of it is taken', async () => {
  // Only Node.js can tell whether bytes are taken, by a timer of its own.
  fakeTime();
  const body = 'x'.repeat(EIGHT_MEGABYTES);
  const reply = { status: 200, headers: {}, body, close: false, drainMs: 50 };
  const stream = await ask((request, response) => sendReply(request, response, reply));
  await once(stream, 'close');
  expect(stream.rstCode).toBe(NGHTTP2_CANCEL);
});
