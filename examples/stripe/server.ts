// Receives the events of Stripe, in a clone: `SIGNING_KEY=whsec_… node dist/examples/stripe/server.js`.
// `stripe listen --forward-to localhost:3000/webhooks` prints a key, and `stripe trigger invoice.paid` sends
// an event.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNode } from 'posthorn/node';
import { closeOnSignal, port } from '../environment.ts';
import { receiver } from './receiver.ts';

const server = createServer(toNode(receiver, { path: '/webhooks' }));
server.listen(port, () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`);
});
closeOnSignal(server, receiver);
