// A Hono application on Node.js that receives webhooks: `SIGNING_KEY=… npm start`.

import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { toFetch } from 'posthorn/fetch';
import { receiver } from './receiver.js';

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
