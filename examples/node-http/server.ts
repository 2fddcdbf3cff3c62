// The http server of Node.js alone, in a clone: `node dist/examples/node-http/server.js`.

import { createServer } from 'node:http';
import { toNode } from 'posthorn/node';
import { announce, closeOnSignal, port } from '../environment.ts';
import { receiver } from './receiver.ts';

const server = createServer(toNode(receiver, { path: '/webhooks' }));
server.listen(port, () => announce(server));
closeOnSignal(server, receiver);
