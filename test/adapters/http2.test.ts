import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  createServer,
} from 'node:http2';
import type { Receiver, ReceiverOptions } from 'posthorn';
import { toNode } from 'posthorn/node';
import { expect, onTestFinished, test } from 'vitest';
import { startServer, stopServer } from '../support/listen.ts';
import { throwing } from '../support/throwing.ts';
import {
  BASIC,
  Endpoint,
  expectAccepted,
  expectProblem,
  Gate,
  type Mount,
  type Mounted,
  type Seen,
  signed,
  transfer,
} from './endpoint.ts';

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** An endpoint that asks for BASIC credentials, and one session of HTTP/2 with it. */
class Target {
  readonly endpoint: Endpoint;
  readonly #session: ClientHttp2Session;

  constructor(endpoint: Endpoint) {
    this.endpoint = endpoint;
    this.#session = connect(endpoint.url);
    onTestFinished(() => this.#session.destroy());
  }

  /** How many streams the server has not closed. */
  readonly countStreams = async (): Promise<number | undefined> => this.endpoint.served.countConnections?.();

  /** Opens a stream with the head of a good delivery, or of one with other headers. */
  open(headers: Headers = {}, method = 'POST'): ClientHttp2Stream {
    const { headers: right } = signed(transfer(), BASIC);
    const stream = this.#session.request({ ':method': method, ':path': '/', ...right, ...headers });
    // A stream that is reset is one of the ways in which it may end here.
    stream.on('error', () => {});
    return stream;
  }

  send(event: object): ClientHttp2Stream {
    const { body, headers } = signed(event, BASIC);
    return this.open(headers).end(body);
  }

  /** The session serves on, and the server keeps no stream of it. */
  async expectServedAndNoLeak(): Promise<void> {
    const event = transfer();
    expectAccepted(await answerTo(this.send(event)), 'processed', event.id);
    await expect.poll(this.countStreams, { timeout: 5_000, interval: 5 }).toBe(0);
  }
}

/** Mounts on a server of HTTP/2 without TLS; what it counts are the streams that it has not closed. */
const mount: Mount = (receiver) => mountListener(toNode(receiver));

async function mountListener(listener: Parameters<typeof createServer>[1]): Promise<Mounted> {
  let streams = 0;
  const server = createServer(listener);
  server.on('stream', (stream) => {
    streams += 1;
    stream.once('close', () => {
      streams -= 1;
    });
  });
  const url = await startServer(server);
  return { url, countConnections: async () => streams, close: () => stopServer(server) };
}

/** The answer, once its stream is closed. Call it at once: at a reset, events without a listener are lost. */
async function answerTo(stream: ClientHttp2Stream): Promise<Seen> {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  const closed = new Promise((resolve) => stream.once('close', resolve));
  const [fields] = await once(stream, 'response');
  await closed;
  const headers = new Map(Object.entries(fields).map(([name, value]) => [name, String(value)]));
  const body = Buffer.concat(chunks);
  expect(headers.get('content-length')).toBe(String(body.length));
  expect(headers.has('connection')).toBe(false);
  return { status: Number(headers.get(':status')), headers, body: body.toString() };
}

function overHttp2(
  name: string,
  options: Partial<ReceiverOptions>,
  run: (target: Target) => Promise<void>,
  register?: (receiver: Receiver) => unknown,
): void {
  test(`over HTTP/2: ${name}`, async () => {
    const settings = { options: { authentication: BASIC, ...options }, ...(register && { register }) };
    const target = new Target(await Endpoint.open(mount, settings));
    await run(target);
    await target.expectServedAndNoLeak();
  });
}

overHttp2('deliveries side by side on one session are processed', {}, async (target) => {
  const events = [transfer(), transfer(), transfer()];
  const answers = await Promise.all(events.map((event) => answerTo(target.send(event))));
  for (const [index, event] of events.entries()) {
    expectAccepted(answers[index] ?? expect.unreachable(), 'processed', event.id);
  }
  const [first = transfer()] = events;
  expectAccepted(await answerTo(target.send(first)), 'duplicate', first.id);
});

test('over HTTP/2: a response that throws, because middleware has replaced its methods, closes its stream', async () => {
  const mountReplaced: Mount = (receiver) => {
    const handle = toNode(receiver);
    return mountListener((request, response) => {
      response.writeHead = throwing('replaced');
      handle(request, response);
    });
  };
  const target = new Target(await Endpoint.open(mountReplaced, { options: { authentication: BASIC } }));
  await once(target.send(transfer()).resume(), 'close');
  await expect.poll(target.countStreams).toBe(0);
  expect(target.endpoint.reports).toMatchObject([{ outcome: 'processed' }]);
});

const refusals: [status: number, code: string, headers: Headers, method?: string][] = [
  [405, 'method_not_allowed', {}, 'PUT'],
  [401, 'credentials_invalid', { authorization: 'Basic eA==' }],
  [403, 'signature_malformed', { 'x-service-signature': 'x' }],
  [403, 'signature_repeated', { 'x-service-signature': ['a'.repeat(64), 'a'.repeat(64)] }],
  [415, 'encoding_unsupported', { 'content-encoding': 'gzip' }],
  [413, 'body_too_large', { 'content-length': '5000000000' }],
];
const declarations: Headers[] = [{ 'content-length': '5000000000' }, { 'content-length': '5000' }, {}];

overHttp2(
  'refusals before the body, of any length, are answered whole',
  { bodyTimeoutMs: 300 },
  async (target) => {
    const cases = refusals.flatMap(([status, code, headers, method]) =>
      declarations.map((declared) => ({ status, code, method, headers: { ...declared, ...headers } })),
    );
    // Side by side, because each may take its time to close its stream.
    await Promise.all(
      cases.map(async ({ status, code, method, headers }) => {
        expectProblem(await answerTo(target.open(headers, method)), status, code);
      }),
    );
    expect(target.endpoint.reports).toHaveLength(cases.length);
    for (const report of target.endpoint.reports) {
      expect(report).toMatchObject({ outcome: 'rejected', answerSent: true });
    }
  },
);

overHttp2('a small rest behind a refusal is taken in', {}, async (target) => {
  const stream = target.open({ 'x-service-signature': 'x', 'content-length': '200000' });
  const answer = answerTo(stream);
  await once(stream, 'response');
  // More than a window, so that it is written only if the server takes it in.
  const written = new Promise((resolve) => {
    stream.write(Buffer.alloc(200_000), (error) => resolve(error ?? 'written'));
  });
  expect(await written).toBe('written');
  stream.end();
  expectProblem(await answer, 403, 'signature_malformed');
});

overHttp2('413 for a body that grows over the limit', { maxBodyBytes: 1_000 }, async (target) => {
  const stream = target.open();
  stream.write('x'.repeat(1_001));
  const startedAt = performance.now();
  expectProblem(await answerTo(stream), 413, 'body_too_large');
  // A rest of unknown length is not taken in for the whole of bodyTimeoutMs.
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  expect(target.endpoint.reports).toMatchObject([{ outcome: 'rejected', answerSent: true }]);
});

overHttp2('408 for a body that stops', { bodyTimeoutMs: 100 }, async (target) => {
  const stream = target.open({ 'content-length': '500' });
  stream.write('{');
  expectProblem(await answerTo(stream), 408, 'body_timeout');
  expect(target.endpoint.reports).toMatchObject([{ outcome: 'rejected', answerSent: true }]);
});

const cutShort = { outcome: 'rejected', code: 'body_incomplete', answerSent: false };

for (const reason of ['NGHTTP2_CANCEL', 'NGHTTP2_NO_ERROR', 'NGHTTP2_INTERNAL_ERROR'] as const) {
  overHttp2(`a stream that is reset in the middle of its body (${reason})`, {}, async (target) => {
    const stream = target.open({ 'content-length': '500' });
    stream.write('{');
    await target.endpoint.arrived(1);
    stream.close(constants[reason]);
    expect(await target.endpoint.report()).toMatchObject(cutShort);
  });
}

overHttp2('a stream that is reset as soon as it is opened was cut short', {}, async (target) => {
  target.open({ 'content-length': '500' }).close(constants.NGHTTP2_CANCEL);
  expect(await target.endpoint.report()).toMatchObject(cutShort);
});

overHttp2(
  'streams that leave no room for their answers are closed',
  { bodyTimeoutMs: 200 },
  async (target) => {
    const session = connect(target.endpoint.url, { settings: { initialWindowSize: 0 } });
    onTestFinished(() => session.destroy());
    for (const { body, headers } of [signed(transfer(), BASIC), signed()]) {
      session
        .request({ ':method': 'POST', ':path': '/', ...headers })
        .on('error', () => {})
        .end(body);
    }
    await target.endpoint.report(1);
  },
);

overHttp2('streams that are closed leave no timer behind', { bodyTimeoutMs: 600_000 }, async (target) => {
  const countTimers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = countTimers();
  const events = Array.from({ length: 100 }, () => transfer());
  await Promise.all(events.map((event) => answerTo(target.send(event))));
  await expect.poll(target.countStreams, { interval: 5 }).toBe(0);
  // Those of the server and of the test come and go.
  await expect.poll(() => countTimers() - before).toBeLessThan(50);
});

const gate = new Gate();
overHttp2(
  'a sender that resets its stream while the handler runs aborts nothing',
  {},
  async (target) => {
    const event = transfer();
    const stream = target.send(event);
    await target.endpoint.arrived(1);
    stream.close(constants.NGHTTP2_CANCEL);
    await expect.poll(target.countStreams, { interval: 5 }).toBe(0);
    gate.open();
    expect(await target.endpoint.report()).toMatchObject({ outcome: 'processed', answerSent: false });
    expectAccepted(await answerTo(target.send(event)), 'duplicate', event.id);
  },
  (receiver) => receiver.on('transfer.*', () => gate.opened),
);
