// A receiver whose only handler is queued: it answers 202 once the job is in the queue.
import { createServer } from 'node:http';
import { toNode } from '../../../dist/adapters/node.js';
import { createReceiver } from '../../../dist/src/index.js';
import { bearerToken, signingKey } from '../../contenders/credentials.js';
import { serve } from '../../contenders/serve.js';
import { openServer } from './server.js';

const SCOPE = 'posthorn';
const server = openServer(process.env.BACKEND === 'postgres' ? 'postgres' : 'redis');
let queued = 0;

const receiver = createReceiver({
  signingKey,
  authentication: { type: 'BEARER', bearer: { token: bearerToken } },
  store: await server.createStore(SCOPE),
  queue: server.createQueue(SCOPE),
})
  .on('transfer.succeeded', async () => {}, { name: 'book', queue: true })
  .observe(({ outcome }) => {
    if (outcome === 'queued') queued += 1;
  });

serve(createServer(toNode(receiver)), () => queued);
