// A worker of the burst: its handlers wait as long as a slow call does. It tells what it has handled, when asked.
import { setTimeout as sleep } from 'node:timers/promises';
import { createReceiver } from '../../dist/src/index.js';
import { createBullQueue, createBullWorker } from '../../dist/src/queues/bullmq/index.js';
import { createRedisStore } from '../../dist/src/stores/redis/index.js';
import { signingKey } from '../contenders/credentials.js';
import { connectRedis } from '../contenders/redis-client.js';

const { REDIS_PORT, HANDLER_MS, CONCURRENCY } = process.env;
const connection = { host: '127.0.0.1', port: Number(REDIS_PORT) };
const scope = 'bench';
/** @type {string[]} */
const handled = [];

const receiver = createReceiver({
  signingKey,
  store: createRedisStore(await connectRedis({ enableAutoPipelining: true }), { scope }),
  queue: createBullQueue({ connection, scope }),
}).on(
  'transfer.succeeded',
  async ({ id }) => {
    await sleep(Number(HANDLER_MS));
    handled.push(id);
  },
  { name: 'book', queue: true },
);
receiver.observe(({ outcome, error }) => {
  if (outcome !== 'processed') console.error(outcome, error?.message);
});
createBullWorker(receiver, { connection, scope, concurrency: Number(CONCURRENCY) });

process.on('message', (/** @type {{ type: 'handled' | 'stop' }} */ { type }) => {
  if (type === 'stop') process.exit();
  process.send?.({ handled });
});
process.send?.({ type: 'working' });
