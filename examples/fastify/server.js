// A Fastify application that receives webhooks: `SIGNING_KEY=… npm start`.

import fastify from 'fastify';
import { toFastify } from 'posthorn/fastify';
import { receiver } from './receiver.js';

const app = fastify();
app.register(toFastify(receiver, { path: '/webhooks' }));
app.post('/echo', async ({ body }) => body); // the bodies of other routes are parsed as before

const address = await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) });
console.log(`listening on ${address}/webhooks`);

process.once('SIGTERM', async () => {
  await receiver.close(); // no new deliveries; the running ones are finished
  await app.close(); // their connections are idle now: Fastify keeps a busy one open for 72 seconds more
  process.exit();
});
