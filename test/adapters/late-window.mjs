import { once } from 'node:events';
import { createServer } from 'node:http2';
import { connect } from 'node:net';
import timers from 'node:timers';

// Posthorn's time passes 50 times as fast.
const { setTimeout: start } = timers;
timers.setTimeout = (callback, ms) => start(callback, ms / 50);

const { createReceiver } = await import('posthorn');
const { toNode } = await import('posthorn/node');
const { toNodeOperator } = await import('posthorn/operator');

const [adapter, method, path] = process.argv.slice(2);
const receiver = createReceiver({ signingKey: 'k' }).on('*', () => {});
receiver.observe(() => {});
const mounts = {
  toNode: () => toNode(receiver, { path: '/webhooks' }),
  toNodeOperator: () => toNodeOperator(receiver, { path: '/operator', authorize: () => undefined }),
};
const server = createServer(mounts[adapter]()).listen(0, '127.0.0.1');
const streams = once(server, 'stream');
await once(server, 'listening');
const socket = connect(server.address().port, '127.0.0.1');

/** A frame (RFC 9113, section 4.1). */
function frame(type, flags, stream, payload) {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A field that refers to no table (RFC 7541, section 6.2.2). */
function field(name, value) {
  return Buffer.from([0, name.length, ...Buffer.from(name), value.length, ...Buffer.from(value)]);
}

const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const PING = 6;
const WINDOW_UPDATE = 8;

const noWindow = Buffer.from([0, 4, 0, 0, 0, 0]);
socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
socket.write(frame(SETTINGS, 0, 0, noWindow));
const target = { ':method': method, ':scheme': 'http', ':path': path, ':authority': 'x' };
const fields = Object.entries(target).map(([name, value]) => field(name, value));
// END_HEADERS, and END_STREAM for a request without a body.
socket.write(frame(HEADERS, method === 'POST' ? 4 : 5, 1, Buffer.concat(fields)));

const [stream] = await streams;
await once(stream, 'close');
socket.write(frame(WINDOW_UPDATE, 0, 1, Buffer.from([0, 0, 255, 255])));
socket.write(frame(RST_STREAM, 0, 1, Buffer.from([0, 0, 0, 8])));
const echo = Buffer.from('echo-bit');
socket.write(frame(PING, 0, 0, echo));
let received = Buffer.alloc(0);
for await (const chunk of socket) {
  received = Buffer.concat([received, chunk]);
  if (received.includes(echo)) break;
}
const reset = frame(RST_STREAM, 0, 1, Buffer.from([0, 0, 0, 8]));
process.stdout.write(`${received.includes(echo)} ${received.includes(reset)}\n`);
process.exit();
