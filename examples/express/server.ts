// An Express app that receives webhooks, in a clone: `node dist/examples/express/server.js`.

import express from 'express';
import { toExpress } from 'posthorn/express';
import { announce, closeOnSignal, port } from '../environment.ts';
import { receiver } from './receiver.ts';

const app = express();
app.use(toExpress(receiver, { path: '/webhooks' }));
app.use(express.json()); // for the routes that follow; before the webhooks it would eat their bodies

const server = app.listen(port, (error) => {
  if (error !== undefined) throw error;
  announce(server);
});
closeOnSignal(server, receiver);
