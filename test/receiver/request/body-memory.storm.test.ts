import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createEvent, deliver, signedHeaders } from 'posthorn/testing';
import { expect, onTestFinished, test } from 'vitest';
import { awaitedLater } from '../../support/awaited-later.ts';
import { packageRoot, startProgram } from '../../support/child-program.ts';
import { KEY } from '../../support/served.ts';
import { until } from '../../support/until.ts';

const program = fileURLToPath(new URL('memory-program.mjs', import.meta.url));
const MIB = 1_048_576;
/** A web stream keeps its last chunks for a moment. The body itself is dropped after 21 seconds. */
const SETTLE_LIMIT_MS = 10_000;

interface Process {
  readonly url: string;
  readonly http2Url: string;
  /** Of a server that hands over web Requests. */
  readonly fetchUrl: string;
  /** The bytes that live in the process, after a garbage collection. */
  readonly heldBytes: () => Promise<number>;
  readonly deliveries: () => Promise<number>;
  /** Resolves once so many connections have brought so many bytes. */
  readonly received: (connections: number, bytesEach: number) => Promise<void>;
  readonly endHandlers: () => Promise<unknown>;
}

async function startReceiver(): Promise<Process> {
  const child = startProgram(program, { SIGNING_KEY: KEY }, packageRoot);
  onTestFinished(() => child.kill('SIGKILL'));
  const ports = (await child.line(/^listening on/)).split(' ').slice(2);
  const [origin, http2Origin, fetchOrigin] = ports.map((port) => `http://127.0.0.1:${port}`);
  const memory = async () => JSON.parse(await (await fetch(`${origin}/memory`)).text());
  return {
    url: `${origin}/webhooks`,
    http2Url: `${http2Origin}`,
    fetchUrl: `${fetchOrigin}/webhooks`,
    heldBytes: async () => (await memory()).heldBytes,
    deliveries: async () => (await memory()).deliveries,
    received: (connections, bytesEach) =>
      until(`${connections} times ${bytesEach} bytes have arrived`, async () => {
        const received: readonly number[] = JSON.parse(await (await fetch(`${origin}/received`)).text());
        return received.filter((bytes) => bytes >= bytesEach).length >= connections;
      }),
    endHandlers: () => fetch(`${origin}/end-handlers`),
  };
}

async function open(url: string): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) });
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Whoever knows no key can send this much: the form of the signature is right. */
const FORGED = `x-service-signature: ${'0'.repeat(64)}`;

test.each([
  ['toNode', 'url'],
  ['toFetch', 'fetchUrl'],
] as const)(
  'a body of 256 KiB in chunks of one byte costs %s less than 2 MiB, and not a Buffer for each',
  async (_, at) => {
    const { url, [at]: mounted, heldBytes, received } = await startReceiver();
    // The first delivery loads code, which must not count.
    await deliver(mounted, createEvent('dispute.won'), { key: KEY });
    const before = await heldBytes();
    const socket = await open(mounted);
    socket.write(`POST /webhooks HTTP/1.1\r\nhost: x\r\n${FORGED}\r\ntransfer-encoding: chunked\r\n\r\n`);
    const chunks = '1\r\n{\r\n'.repeat(MIB / 4);
    socket.write(chunks);
    await received(1, chunks.length);
    let held = 0;
    await until(
      () => `less than 2 MiB are held, and not ${held} bytes`,
      async () => {
        held = (await heldBytes()) - before;
        return held < 2 * MIB;
      },
      SETTLE_LIMIT_MS,
    );
    expect(held).toBeGreaterThan(MIB / 8);
    const honest = await deliver(url, createEvent('dispute.won'), { key: KEY });
    expect(honest.status).toBe(200);
  },
);

test('a body in DATA frames of one byte costs its own size, and not a Buffer for each', async () => {
  const { http2Url, heldBytes, received } = await startReceiver();
  const before = await heldBytes();
  // The bytes that a sender may send on a connection before the receiver has said that it takes more.
  const frames = 60_000;
  const connections = 20;
  const data = Buffer.concat(Array.from({ length: frames }, () => DATA_OF_ONE_BYTE));
  for (let count = 0; count < connections; count += 1) {
    const socket = await open(http2Url);
    socket.write(http2Head());
    socket.write(data);
  }
  await received(connections, data.length);
  const held = (await heldBytes()) - before;
  expect(held).toBeGreaterThan(connections * 0.5 * frames);
  expect(held).toBeLessThan(connections * 5 * frames);
  const session = connectHttp2(http2Url);
  onTestFinished(() => session.destroy());
  const body = JSON.stringify(createEvent('dispute.won'));
  const honest = session.request({
    ':method': 'POST',
    ':path': '/webhooks',
    ...signedHeaders(body, { key: KEY }),
  });
  honest.end(body);
  const [headers] = await once(honest, 'response');
  expect(headers[':status']).toBe(200);
});

test('a large DATA frame does not keep what was read from the socket with it', async () => {
  const { http2Url, heldBytes, received } = await startReceiver();
  const before = await heldBytes();
  const connections = 60;
  const framesEach = 3;
  const data = frame(0, 0, 1, Buffer.alloc(16_384));
  const UNKNOWN_TYPE = 0xfa;
  const ignored = frame(UNKNOWN_TYPE, 0, 0, Buffer.alloc(16_300));
  for (let count = 0; count < connections; count += 1) {
    const socket = await open(http2Url);
    socket.write(http2Head());
    // Node.js reads 64 KiB at once.
    for (let sent = 0; sent < framesEach; sent += 1) {
      socket.write(Buffer.concat([data, ignored, ignored, ignored]));
    }
  }
  const sentBytes = connections * framesEach * 16_384;
  await received(connections, 4 * framesEach * 16_300);
  const held = (await heldBytes()) - before;
  expect(held).toBeGreaterThan(0.5 * sentBytes);
  expect(held).toBeLessThan(2 * sentBytes);
});

const DATA_OF_ONE_BYTE = frame(0, 0, 1, Buffer.from('{'));

/** A frame of RFC 9113, section 4.1. */
function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/**
 * The client's preface, and a request whose body is still to come. Literal fields without indexing: RFC 7541,
 * section 6.2.2.
 */
function http2Head(): Buffer {
  const fields = {
    ':method': 'POST',
    ':scheme': 'http',
    ':path': '/webhooks',
    ':authority': 'x',
    'x-service-signature': '0'.repeat(64),
  };
  const block = Object.entries(fields).flatMap(([name, value]) => [
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ]);
  const END_HEADERS = 4;
  return Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    frame(4, 0, 0, Buffer.alloc(0)),
    frame(1, END_HEADERS, 1, Buffer.concat(block)),
  ]);
}

test('100 deliveries that wait for the run of their event hold one body', async () => {
  const { url, heldBytes, deliveries, endHandlers } = await startReceiver();
  const event = createEvent('transfer.succeeded', { data: { note: 'x'.repeat(900_000) } });
  const first = awaitedLater(deliver(url, event, { key: KEY }));
  await until('the first body is held', async () => (await heldBytes()) > 0.9 * MIB);
  const before = await heldBytes();
  const rest = Array.from({ length: 100 }, () => awaitedLater(deliver(url, event, { key: KEY })));
  await until('the others have come', async () => (await deliveries()) === 101);
  // While a body arrives it is held; 100 of them would take 90 MB.
  await until('their bodies are let go', async () => (await heldBytes()) - before < 15 * MIB);
  await endHandlers();
  const answers = await Promise.all([first, ...rest].map(async (sent) => (await sent).text()));
  expect(answers.filter((answer) => answer.includes('"duplicate"'))).toHaveLength(100);
});
