// Receivers with memory stores in workers of node:cluster behind one port. WORKERS is their number; without
// any, the program itself receives.

import cluster from 'node:cluster';
import { createServer } from 'node:http';
import { createReceiver } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { toNode } from 'posthorn/node';

const workers = Number(process.env.WORKERS);

if (cluster.isPrimary && workers > 0) {
  let listening = 0;
  cluster.on('listening', (_worker, { port }) => {
    listening += 1;
    if (listening === workers) process.stdout.write(`listening ${port}\n`);
  });
  for (let count = 0; count < workers; count += 1) cluster.fork();
} else {
  const receiver = createReceiver({
    signingKey: process.env.KEY,
    deadLetters: createFileDeadLetters(process.env.DEAD_LETTERS),
  }).on('*', ({ id }) => process.stdout.write(`handled ${id}\n`));
  const server = createServer({ keepAliveTimeout: 0 }, toNode(receiver));
  server.listen(0, '127.0.0.1', () => {
    if (cluster.isPrimary) process.stdout.write(`listening ${server.address().port}\n`);
  });
}
