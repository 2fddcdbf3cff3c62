// A receiver that keeps everything in PostgreSQL: event ids, dead letters, and a ledger that has each event
// exactly once. POSTGRES_URL is the address. To run it in a clone: `node dist/examples/postgres/server.js`.

import { createServer } from 'node:http';
import { toNode } from 'posthorn/node';
import { announce, closeOnSignal, port } from '../environment.ts';
import { receiver } from './receiver.ts';

const server = createServer(toNode(receiver, { path: '/webhooks' })).listen(port, () => announce(server));
closeOnSignal(server, receiver);
