// The http server of Node.js alone, in a clone: `node dist/examples/node-http.js`.

import { createServer } from 'node:http';
import { createReceiver } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { toNode } from 'posthorn/node';
import { announce, authentication, closeOnSignal, port, printEvent, signingKey } from './environment.ts';

const receiver = createReceiver({
  signingKey,
  authentication,
  deadLetters: createFileDeadLetters('dead-letters'),
}).on('*', printEvent);

const server = createServer(toNode(receiver, { path: '/webhooks' }));
server.listen(port, () => announce(server));
closeOnSignal(server, receiver);
