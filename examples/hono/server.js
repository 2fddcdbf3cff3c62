// A Hono application on Node.js that receives webhooks: `SIGNING_KEY=… npm start`.

import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { createReceiver } from 'posthorn';
import { toFetch } from 'posthorn/fetch';
import { createFileDeadLetters } from 'posthorn/file';

const receiver = createReceiver({
  signingKey: process.env.SIGNING_KEY,
  deadLetters: createFileDeadLetters('dead-letters'),
});
receiver.on('transfer.succeeded', (event) => console.log(event.id, event.data.amount));
const receive = toFetch(receiver);

const app = new Hono();
app.all('/webhooks', (c) => receive(c.req.raw, c)); // before validators, which read the body
app.post('/echo', async (c) => c.json(await c.req.json()));

const port = Number(process.env.PORT ?? 3000);
const server = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, (address) =>
  console.log(`listening on http://127.0.0.1:${address.port}/webhooks`),
);

process.once('SIGTERM', async () => {
  server.close(); // no new deliveries
  await receiver.close(); // the running ones are finished
  process.exit();
});
