// A receiver with the interface of operators, in a clone:
// `ANNA_TOKEN=… node dist/examples/operator/server.js`. It lists its dead letters for
// `curl -H "authorization: Bearer $ANNA_TOKEN" http://127.0.0.1:3000/operator/api/dead-letters`.

import { createServer } from 'node:http';
import { toNode } from 'posthorn/node';
import { announce, closeOnSignal, port } from '../environment.ts';
import { operator } from './operator.ts';
import { receiver } from './receiver.ts';

const webhooks = toNode(receiver, { path: '/webhooks' });
const server = createServer((request, response) => {
  operator(request, response, () => webhooks(request, response));
});
server.listen(port, () => announce(server));
closeOnSignal(server, receiver);
