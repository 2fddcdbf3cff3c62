// An Express app that receives webhooks, in a clone: `node dist/examples/express.js`.

import express from 'express';
import { createReceiver } from 'posthorn';
import { toExpress } from 'posthorn/express';
import { createFileDeadLetters } from 'posthorn/file';
import { announce, authentication, closeOnSignal, port, printEvent, signingKey } from './environment.ts';

const receiver = createReceiver({
  signingKey,
  authentication,
  deadLetters: createFileDeadLetters('dead-letters'),
}).on('*', printEvent);

const app = express();
app.use(toExpress(receiver, { path: '/webhooks' }));
app.use(express.json()); // for the routes that follow; before the webhooks it would eat their bodies

const server = app.listen(port, (error) => {
  if (error !== undefined) throw error;
  announce(server);
});
closeOnSignal(server, receiver);
