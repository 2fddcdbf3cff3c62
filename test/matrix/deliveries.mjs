/**
 * What a receiver on node:http does with deliveries, by the name of each. It runs on every runtime, so it is
 * plain JavaScript and uses nothing but what is packed and the modules of Node.js.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import http2 from 'node:http2';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const key = 'matrix-key';

/** The name and version of what runs this program, by its own word. */
export function nameRuntime() {
  if (globalThis.Bun !== undefined) return `Bun ${globalThis.Bun.version}`;
  if (globalThis.Deno !== undefined) return `Deno ${globalThis.Deno.version.deno}`;
  return `Node.js ${process.versions.node}`;
}

/** Sends deliveries to a receiver that is built from the given modules; returns what became of each. */
export async function receiveDeliveries({ core, node, file, testing }) {
  const directory = mkdtempSync(join(tmpdir(), 'posthorn-smoke-'));
  const state = { isBroken: true, reports: [] };
  const receiver = createReceiver(core, file, directory, state);
  const server = createServer({ keepAliveTimeout: 0 }, node.toNode(receiver, { path: '/webhooks' }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  const results = {
    ...(await sendEvents(`http://127.0.0.1:${port}/webhooks`, testing)),
    ...(await replayLetters(receiver, state)),
    verify: await verify(receiver, testing),
    ...(await sendBytes(port, testing, state)),
    http2: await sendOverHttp2(node.toNode(receiver), testing),
  };
  const closing = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closing;
  results.close = await receiver.close();
  rmSync(directory, { recursive: true });
  return results;
}

function createReceiver({ createReceiver, PermanentError }, { createFileDeadLetters }, directory, state) {
  return createReceiver({
    signingKey: key,
    deadLetters: createFileDeadLetters(directory),
    maxBodyBytes: 1_000,
    bodyTimeoutMs: 300,
  })
    .on('transfer.*', () => new Promise((resolve) => setTimeout(resolve, 20)))
    .on('dispute.created', () => {
      if (state.isBroken) throw new PermanentError('broken');
    })
    .on('merchant.created', () => {
      throw new Error('fails once');
    })
    .observe((report) => state.reports.push(report));
}

/** By `fetch`, as the service sends events. */
async function sendEvents(url, { createEvent, deliver }) {
  const send = async (...delivery) => outcomeOf(await deliver(url, ...delivery));
  const event = createEvent('transfer.created');
  const concurrent = createEvent('transfer.updated');
  const both = [send(concurrent, { key }), send(concurrent, { key })];
  return {
    processed: await send(event, { key }),
    duplicate: await send(event, { key }),
    concurrent: (await Promise.all(both)).sort(),
    parked: await send(createEvent('dispute.created'), { key }),
    failed: await send(createEvent('merchant.created'), { key }),
    ignored: await send(createEvent('settlement.created'), { key }),
    forged: await send(createEvent('transfer.created'), { key: 'another' }),
    tooLarge: await send(createEvent('transfer.created', { text: 'x'.repeat(2_000) }), { key }),
    encoded: await send(event, { key, headers: { 'content-encoding': 'gzip' } }),
    wrongMethod: await outcomeOf(await fetch(url)),
    wrongPath: await outcomeOf(await fetch(new URL('/', url))),
  };
}

async function outcomeOf(response) {
  const { outcome, code } = await response.json();
  return `${response.status} ${outcome ?? code}`;
}

async function replayLetters(receiver, state) {
  const letters = [];
  for await (const letter of receiver.deadLetters.list()) letters.push(letter);
  state.isBroken = false;
  const reports = await Promise.all(letters.map((letter) => receiver.replay(letter)));
  const left = [];
  for await (const letter of receiver.deadLetters.list()) left.push(letter);
  return {
    letters: letters.map(({ type, reason }) => `${type} ${reason}`),
    replay: reports.map(({ outcome }) => outcome),
    lettersLeft: left.length,
  };
}

async function verify(receiver, { createEvent, signedHeaders }) {
  const body = JSON.stringify(createEvent('transfer.created'));
  const event = await receiver.verify(body, signedHeaders(body, { key }));
  const refusal = await receiver.verify(body, signedHeaders('{}', { key })).catch(({ code }) => code);
  return [event.type, refusal];
}

/** By sockets: what a client of HTTP would not send. */
async function sendBytes(port, { createEvent, signedHeaders }, { reports }) {
  const event = () => JSON.stringify(createEvent('transfer.created'));
  const post = (body, framing) => {
    const headers = Object.entries({ host: 'a', ...signedHeaders(body, { key }), ...framing });
    return `POST /webhooks HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
  };
  const whole = (body) => post(body, { 'content-length': body.length }) + body;
  const chunks = (body) => body.replace(/.{1,100}/g, (part) => `${part.length.toString(16)}\r\n${part}\r\n`);
  const chunked = (body) => `${post(body, { 'transfer-encoding': 'chunked' })}${chunks(body)}0\r\n\r\n`;
  const body = event();
  const cut = post(body, { 'content-length': 500 }) + body;
  const bodies = [event(), event()];
  return {
    chunked: await exchange(port, chunked(event()), 1),
    chunkedTooLarge: await exchange(port, chunked('x'.repeat(2_000)), 1),
    pipelined: await exchange(port, bodies.map(whole).join(''), 2),
    // The body of the first one is refused unread, and the connection is kept.
    refusedThenSent: await exchange(
      port,
      whole(event()).replace(/x-service-signature.*\r\n/, '') + whole(event()),
      2,
    ),
    slowBody: await exchange(port, cut, 1),
    signatureTwice: await exchange(port, whole(event()).replace(/(x-service-signature.*\r\n)/, '$1$1'), 1),
    hungUp: await hangUp(port, cut, reports),
  };
}

/** Sends bytes until as many answers have come as are wanted; resolves with their status lines and bodies. */
async function exchange(port, bytes, wanted) {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  let text = '';
  const answers = () => text.match(/HTTP\/1\.1 \d+|^connection: close|(?<="(outcome|code)":")\w+/gim) ?? [];
  const enough = new Promise((resolve) => {
    const limit = setTimeout(resolve, 5_000);
    const end = () => {
      clearTimeout(limit);
      resolve();
    };
    socket.on('error', end).on('close', end);
    socket.on('data', (part) => {
      text += part;
      if ((text.match(/"(outcome|code)":/g) ?? []).length >= wanted) end();
    });
  });
  socket.write(bytes);
  await enough;
  socket.destroy();
  return answers().join(' ').toLowerCase().replaceAll('http/1.1 ', '');
}

/** Sends a delivery over HTTP/2 without TLS. */
async function sendOverHttp2(handler, { createEvent, signedHeaders }) {
  const server = http2.createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const session = http2.connect(`http://127.0.0.1:${server.address().port}`);
  const body = JSON.stringify(createEvent('transfer.created'));
  const stream = session.request({ ':method': 'POST', ':path': '/', ...signedHeaders(body, { key }) });
  const response = once(stream, 'response');
  stream.setEncoding('utf8').end(body);
  const [headers] = await response;
  let text = '';
  for await (const part of stream) text += part;
  session.close();
  server.close();
  return `${headers[':status']} ${JSON.parse(text).outcome}`;
}

/** Sends a part of a delivery and hangs up; resolves with the code of the report. */
async function hangUp(port, bytes, reports) {
  const before = reports.length;
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  await once(socket, 'connect');
  await new Promise((resolve) => socket.write(bytes, resolve));
  socket.destroy();
  const end = Date.now() + 5_000;
  while (reports.length === before && Date.now() < end)
    await new Promise((resolve) => setTimeout(resolve, 5));
  const report = reports[before];
  return `${report?.code} ${report?.answerSent}`;
}
