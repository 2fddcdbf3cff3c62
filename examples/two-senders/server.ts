// Receives the events of the banking service and of Stripe, in a clone:
// `STRIPE_SIGNING_KEY=whsec_… node dist/examples/two-senders/server.js`.

import express from 'express';
import { toExpress } from 'posthorn/express';
import { announce, closeOnSignal, port } from '../environment.ts';
import { sendMetrics } from '../metrics.ts';
import * as senders from './senders.ts';

const app = express();
app.use(toExpress(senders.banking.receiver, { path: '/webhooks/banking' }));
app.use(toExpress(senders.stripe.receiver, { path: '/webhooks/stripe' }));
app.get('/metrics', sendMetrics);

const server = app.listen(port, (error) => {
  if (error !== undefined) throw error;
  announce(server, '/webhooks/banking');
});
closeOnSignal(server, senders);
