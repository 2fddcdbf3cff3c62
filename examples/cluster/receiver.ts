import { setTimeout as sleep } from 'node:timers/promises';
import { createReceiver, type Receiver } from 'posthorn';
import { authentication, printEvent, signingKey } from '../environment.ts';
import { createRedisParts } from '../redis-parts.ts';

const { store, deadLetters } = await createRedisParts(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379');

export const receiver: Receiver = createReceiver({ signingKey, authentication, store, deadLetters })
  .on('*', (event) => {
    console.log(`worker ${process.pid}`);
    printEvent(event);
  })
  .on(
    'transfer.*',
    // One event of a transfer at a time, in all workers together.
    async ({ id, data }) => {
      console.log(`${data.id}: ${id} begins`);
      await sleep(100); // a call of another service
      console.log(`${data.id}: ${id} ends`);
    },
    { name: 'book', concurrencyKey: ({ data }) => data.id },
  );
