/** toNode with createBullQueue: the handler is queued, and the answer comes once its job is in Redis. */
import { createServer } from 'node:http';
import { toNode } from '../../dist/adapters/node.js';
import { createBullQueue } from '../../dist/src/bullmq/index.js';
import { createReceiver } from '../../dist/src/index.js';
import { bearerToken, signingKey } from './credentials.js';
import { serve } from './serve.js';

const connection = { host: '127.0.0.1', port: Number(process.env.REDIS_PORT) };
let queued = 0;

const receiver = createReceiver({
  signingKey,
  authentication: { type: 'BEARER', bearer: { token: bearerToken } },
  queue: createBullQueue({ connection, scope: 'bench' }),
})
  .on('transfer.succeeded', async () => {}, { name: 'book', queue: true })
  .observe(({ outcome }) => {
    if (outcome === 'queued') queued += 1;
  });

serve(createServer(toNode(receiver)), () => queued);
