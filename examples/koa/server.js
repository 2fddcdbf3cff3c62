// A Koa application that receives webhooks: `SIGNING_KEY=… npm start`.

import { bodyParser } from '@koa/bodyparser';
import Koa from 'koa';
import { toKoa } from 'posthorn/koa';
import { receiver } from './receiver.js';

const app = new Koa();
app.use(toKoa(receiver, { path: '/webhooks' }));
app.use(bodyParser()); // for the middleware that follows; before the webhooks it would eat their bodies
app.use((context) => {
  if (context.path === '/echo') context.body = context.request.body;
});

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () =>
  console.log(`listening on http://127.0.0.1:${server.address().port}/webhooks`),
);

process.once('SIGTERM', async () => {
  server.close(); // no new deliveries
  await receiver.close(); // the running ones are finished
  process.exit();
});
