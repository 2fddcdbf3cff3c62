// An Elysia application on Bun that receives webhooks: `SIGNING_KEY=… bun server.ts`.

import { Elysia } from 'elysia';
import { toFetch } from 'posthorn/fetch';
import { receiver } from './receiver.ts';

const receive = toFetch(receiver);

const app = new Elysia()
  .all('/webhooks', ({ request }) => receive(request), { parse: 'none' })
  .post('/echo', ({ body }) => body)
  .listen({ port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' });
console.log(`listening on http://127.0.0.1:${app.server?.port}/webhooks`);

process.once('SIGTERM', async () => {
  await app.stop(); // no new deliveries
  await receiver.close(); // the running ones are finished
  process.exit();
});
