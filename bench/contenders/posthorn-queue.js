/**
 * toNode with createBullQueue: the handler is queued, and the answer comes once its job is in Redis;
 * `--redis-store` for a store that workers share.
 */
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { toNode } from '../../dist/adapters/node.js';
import { createMemoryStore, createReceiver } from '../../dist/src/index.js';
import { createBullQueue } from '../../dist/src/queues/bullmq/index.js';
import { createRedisStore } from '../../dist/src/stores/redis/index.js';
import { bearerToken, signingKey } from './credentials.js';
import { connectRedis } from './redis-client.js';
import { serve } from './serve.js';

const { values } = parseArgs({ options: { 'redis-store': { type: 'boolean', default: false } } });
const store = values['redis-store']
  ? createRedisStore(await connectRedis({ enableAutoPipelining: true }), { scope: 'bench' })
  : createMemoryStore();
const connection = { host: '127.0.0.1', port: Number(process.env.REDIS_PORT) };
let queued = 0;

const receiver = createReceiver({
  signingKey,
  authentication: { type: 'BEARER', bearer: { token: bearerToken } },
  store,
  queue: createBullQueue({ connection, scope: 'bench' }),
})
  .on('transfer.succeeded', async () => {}, { name: 'book', queue: true })
  .observe(({ outcome }) => {
    if (outcome === 'queued') queued += 1;
  });

serve(createServer(toNode(receiver)), () => queued);
