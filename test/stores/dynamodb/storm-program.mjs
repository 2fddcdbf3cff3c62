// Receivers in workers of node:cluster that share a table of DynamoDB. A worker that ends is forked again. The
// clocks of the workers differ by up to five seconds from the right time.

import cluster from 'node:cluster';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createReceiver } from 'posthorn';
import { createDynamoDeadLetters, createDynamoStore } from 'posthorn/dynamodb';
import { toNode } from 'posthorn/node';
import { runInWorkers } from '../memory/cluster-workers.mjs';

const { WORKERS, PORT, TABLE, ENDPOINT, KEY } = process.env;
const place = { table: TABLE, scope: 'storm' };

function note(...words) {
  process.stdout.write(`${words.join(' ')}\n`);
}

function receive() {
  const client = new DynamoDBClient({
    endpoint: ENDPOINT,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  const skewMs = ((cluster.worker.id % 3) - 1) * 5_000;
  const now = Date.now;
  Date.now = () => now() + skewMs;
  const receiver = createReceiver({
    signingKey: KEY,
    store: createDynamoStore(client, place),
    deadLetters: createDynamoDeadLetters(client, place),
    leaseMs: 2_000,
    deadlineMs: 6_000,
  })
    .on('*', async ({ id }) => {
      await sleep(Math.random() * 30);
      note('handled', id);
      // Kills are to fall here too, between the effect and its recording.
      await sleep(Math.random() * 20);
    })
    .observe(({ event, warnings }) => {
      if (warnings.some((warning) => warning.startsWith('completion_pending'))) note('pending', event?.id);
    });
  createServer({ keepAliveTimeout: 0 }, toNode(receiver)).listen(Number(PORT), '127.0.0.1');
}

await runInWorkers(Number(WORKERS), receive);
