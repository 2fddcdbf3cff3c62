// The receiver that server.ts and worker.ts share. REDIS_URL is the address of Redis, which needs
// `appendonly yes` and `maxmemory-policy noeviction`: see docs/queue.md.

import { setTimeout as sleep } from 'node:timers/promises';
import { createReceiver, type Queue, type Receiver } from 'posthorn';
import { type BullQueueOptions, createBullQueue } from 'posthorn/bullmq';
import { authentication, printEvent, signingKey } from '../environment.ts';
import { createRedisParts } from '../redis-parts.ts';

const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';
const { store, deadLetters } = await createRedisParts(url);

/** The place of the queue, for the worker as well. */
export const place: BullQueueOptions = { connection: { url }, scope: 'example-development' };

export const queue: Queue = createBullQueue(place);

export const receiver: Receiver = createReceiver({
  signingKey,
  authentication,
  store,
  deadLetters,
  queue,
}).on(
  '*',
  async (event, { signal }) => {
    await sleep(1_000, undefined, { signal }); // longer work would exceed the service's time limit
    printEvent(event);
  },
  { name: 'print', queue: true },
);
