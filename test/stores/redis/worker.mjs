// A receiver in a process of its own, for tests that kill or stop it. It notes what it does, in the file LOG
// and on its output.

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster, Redis } from 'ioredis';
import { createReceiver } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { toNode } from 'posthorn/node';
import { createRedisStore } from 'posthorn/redis';
import { createCluster } from 'redis';

const { REDIS_PORT, CLIENT, LOG, KEY, LEASE_MS, COMMAND_TIMEOUT_MS, GATES, DEAD_LETTERS, OPTIONS } =
  process.env;

function note(...words) {
  const line = [process.pid, ...words].join(' ');
  // Synchronously: what a kill cuts off after this has been noted.
  appendFileSync(LOG, `${line}\n`);
  process.stdout.write(`${line}\n`);
}

/** Waits for the file that says how the handler of this process ends; without GATES, for a moment. */
async function work(id) {
  if (GATES === undefined) return sleep(10 + Math.random() * 60);
  const path = `${GATES}/${process.pid}-${id}`;
  while (!existsSync(path)) await sleep(20);
  const end = readFileSync(path, 'utf8');
  if (end !== 'succeed') throw new Error(end);
}

const node = { host: '127.0.0.1', port: Number(REDIS_PORT) };
const noteError = (error) => note('redis', error.message);

// As docs/redis.md recommends.
const clients = {
  single: () => new Redis(node),
  'ioredis Cluster': () =>
    new Cluster([node], {
      clusterRetryStrategy: (times) => Math.min(times * 100, 1_000),
      redisOptions: { socketTimeout: 5_000 },
    }),
  'node-redis Cluster': () => createCluster({ rootNodes: [{ socket: node }] }),
};
const redis = clients[CLIENT]().on('error', noteError);
if (CLIENT === 'node-redis Cluster') await redis.connect();
else await new Promise((resolve) => redis.once('ready', resolve));

const receiver = createReceiver({
  signingKey: KEY,
  store: createRedisStore(redis, { scope: 'workers', commandTimeoutMs: Number(COMMAND_TIMEOUT_MS) }),
  leaseMs: Number(LEASE_MS),
  ...(DEAD_LETTERS !== undefined && { deadLetters: createFileDeadLetters(DEAD_LETTERS) }),
  ...JSON.parse(OPTIONS ?? '{}'),
})
  .on('*', async ({ id }, { signal }) => {
    note('begun', id);
    signal.addEventListener('abort', () => note('aborted', id, signal.reason.code));
    await work(id);
    note('handled', id, Date.now());
    // Kills are to fall here too, between the effect and its recording.
    if (GATES === undefined) await sleep(Math.random() * 30);
  })
  .observe(({ event, outcome, attempt, late, warnings, code, error }) => {
    const reason = [JSON.stringify(warnings), code, JSON.stringify(error?.message)];
    note('reported', event?.id, outcome, attempt, late, ...reason);
  });

const server = createServer({ keepAliveTimeout: 0 }, toNode(receiver));
server.listen(0, '127.0.0.1', () => note('listening', server.address().port));
