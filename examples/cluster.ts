// Workers of node:cluster behind one port that share a Redis: `npm run build && node dist/examples/cluster.js`.
// REDIS_URL says where it is, WORKERS how many processes there are.

import cluster from 'node:cluster';
import { createServer } from 'node:http';
import { Redis } from 'ioredis';
import { createReceiver } from 'posthorn';
import { toNode } from 'posthorn/node';
import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';
import { announce, authentication, closeOnSignal, port, printEvent, signingKey } from './environment.ts';

if (cluster.isPrimary) startWorkers();
else await receive();

function startWorkers(): void {
  const workerCount = Number(process.env.WORKERS ?? 2);
  // One key for all: each worker would otherwise make up its own.
  const fork = () => cluster.fork({ SIGNING_KEY: signingKey });
  for (let index = 0; index < workerCount; index += 1) fork();

  let listening = 0;
  cluster.on('listening', (_worker, { port }) => {
    listening += 1;
    if (listening === workerCount) announce({ port });
  });
  let isClosing = false;
  cluster.on('exit', () => {
    if (isClosing) return;
    // A worker that cannot even begin is not helped by another; later ones are replaced, though never in a rush.
    if (listening >= workerCount) setTimeout(() => isClosing || fork(), 1_000);
    else process.exitCode = 1;
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      isClosing = true;
      for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGTERM');
    });
  }
}

async function receive(): Promise<void> {
  const redis = new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379', { socketTimeout: 5_000 });
  redis.on('error', (error) => console.error(`redis: ${error.message}`));
  await new Promise((resolve) => redis.once('ready', resolve));

  const scope = 'example-development';
  const receiver = createReceiver({
    signingKey,
    authentication,
    store: createRedisStore(redis, { scope }),
    deadLetters: createRedisDeadLetters(redis, { scope }),
  }).on('*', (event) => {
    console.log(`worker ${process.pid}`);
    printEvent(event);
  });

  const server = createServer(toNode(receiver, { path: '/webhooks' })).listen(port);
  closeOnSignal(server, receiver);
}
