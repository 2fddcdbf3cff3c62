// Receives webhooks of GitHub, in a clone: `SIGNING_KEY=secret node dist/examples/github/server.js`.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNode } from 'posthorn/node';
import { closeOnSignal, port } from '../environment.ts';
import { receiver } from './receiver.ts';

const server = createServer(toNode(receiver, { path: '/webhooks' }));
server.listen(port, () => {
  const { port: actualPort } = server.address() as AddressInfo;
  console.log(`listening on http://127.0.0.1:${actualPort}/webhooks`);
});
closeOnSignal(server, receiver);
