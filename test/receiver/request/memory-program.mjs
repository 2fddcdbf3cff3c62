// A receiver in a process of its own, which tells how much memory it holds. Run by
// body-memory.storm.test.ts, with the built package.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { getRequestListener } from '@hono/node-server';
import { createReceiver } from 'posthorn';
import { toFetch } from 'posthorn/fetch';
import { toNode } from 'posthorn/node';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

let endHandlers = () => {};
const mayEnd = new Promise((resolve) => {
  endHandlers = resolve;
});

const receiver = createReceiver({
  signingKey: process.env.SIGNING_KEY,
  bodyTimeoutMs: 60_000,
  deadlineMs: 29_000,
});
receiver.observe(() => {});
receiver.on('transfer.*', () => mayEnd);
receiver.on('dispute.*', () => {});

let deliveries = 0;
const receive = (delivery) => {
  deliveries += 1;
  return receiver.receive(delivery);
};
const handle = toNode({ receive }, { path: '/webhooks' });
const listener = (request, response) => handle(request, response, () => control(request, response));

async function control(request, response) {
  if (request.url === '/end-handlers') endHandlers();
  // Without a collection, which would take longer than what it waits for.
  if (request.url === '/received')
    return response.end(JSON.stringify(sockets.map(({ bytesRead }) => bytesRead)));
  // A second collection frees what finalizers of the first have let go.
  collectGarbage();
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return response.end(JSON.stringify({ heldBytes: heapUsed + external, deliveries }));
}

const servers = [
  createServer(listener),
  createHttp2Server(listener),
  createServer(getRequestListener(toFetch({ receive }))),
];
// A client that asks again after a while must not meet a connection that is just being closed.
servers[0].keepAliveTimeout = 60_000;
const sockets = [];
for (const server of servers) {
  server.on('connection', (socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
}
await Promise.all(servers.map((server) => once(server, 'listening')));
process.stdout.write(`listening on ${servers.map((server) => server.address().port).join(' ')}\n`);
