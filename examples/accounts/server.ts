// Receives the events of many merchants, in a clone: `node dist/examples/accounts/server.js`. A merchant
// begins with a row: `insert into merchants values ('m1', array['…'])`.

import type { AddressInfo } from 'node:net';
import express from 'express';
import { toExpress } from 'posthorn/express';
import { closeOnSignal, port } from '../environment.ts';
import { sendMetrics } from '../metrics.ts';
import { queue, receiver } from './receiver.ts';

const app = express();
app.all('/webhooks/:merchant', toExpress(receiver));
app.get('/metrics', sendMetrics);

const server = app.listen(port, (error) => {
  if (error !== undefined) throw error;
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/`);
});
closeOnSignal(server, receiver, queue);
