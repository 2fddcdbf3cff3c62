// A receiver and a worker as two processes that share a Redis. In a clone `node dist/examples/queue.js`
// receives, and `node dist/examples/queue.js worker` handles. REDIS_URL is the address of Redis, which needs
// `appendonly yes` and `maxmemory-policy noeviction`: see docs/queue.md.

import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createReceiver } from 'posthorn';
import { createBullQueue, createBullWorker } from 'posthorn/bullmq';
import { toNode } from 'posthorn/node';
import { announce, authentication, port, printEvent, signingKey } from './environment.ts';
import { createRedisParts } from './redis-parts.ts';

const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';
const scope = 'example-development';
const { store, deadLetters } = await createRedisParts(url);

// Both processes create the same receiver, in one module.
const queue = createBullQueue({ connection: { url }, scope });
const receiver = createReceiver({ signingKey, authentication, store, deadLetters, queue }).on(
  '*',
  async (event, { signal }) => {
    await sleep(1_000, undefined, { signal }); // longer work would exceed the service's time limit
    printEvent(event);
  },
  { name: 'print', queue: true },
);

if (process.argv[2] === 'worker') work();
else receive();

function receive(): void {
  const server = createServer(toNode(receiver, { path: '/webhooks' }));
  server.listen(port, () => announce(server));
  onSignal(() => server.close());
}

function work(): void {
  const worker = createBullWorker(receiver, { connection: { url }, scope, concurrency: 10 });
  console.log('working');
  onSignal(() => worker.close());
}

/**
 * On SIGTERM and SIGINT: accepts nothing new, finishes running jobs or puts them back, and closes the
 * connections.
 */
function onSignal(stop: () => unknown): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, async () => {
      await stop();
      const { abandoned } = await receiver.close();
      await queue.close();
      process.exit(abandoned.length === 0 ? 0 : 1);
    });
  }
}
