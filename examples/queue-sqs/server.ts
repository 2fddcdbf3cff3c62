// A receiver that leaves its handlers to a worker, in a clone: `node dist/examples/queue-sqs/server.js`.

import { createServer } from 'node:http';
import { toNode } from 'posthorn/node';
import { announce, closeOnSignal, port } from '../environment.ts';
import { queue, receiver } from './receiver.ts';

const server = createServer(toNode(receiver, { path: '/webhooks' }));
server.listen(port, () => announce(server));
closeOnSignal(server, receiver, queue);
