// Workers of node:cluster behind one port that share a Redis. REDIS_URL is its address, WORKERS the number of
// processes. To run it in a clone: `node dist/examples/cluster/server.js`.

import cluster from 'node:cluster';
import { createServer } from 'node:http';
import { toNode } from 'posthorn/node';
import { announce, closeOnSignal, port, signingKey } from '../environment.ts';

if (cluster.isPrimary) startWorkers();
else await receive();

function startWorkers(): void {
  const workerCount = Number(process.env.WORKERS ?? 2);
  // One key for all, because otherwise each worker would make up its own.
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
    // If the first workers cannot start, others cannot either. A later worker that ends is replaced after a
    // pause.
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
  // Only here, because the first process needs no connection to Redis.
  const { receiver } = await import('./receiver.ts');
  const server = createServer(toNode(receiver, { path: '/webhooks' })).listen(port);
  closeOnSignal(server, receiver);
}
