// A receiver, or a worker, in a process of its own, for tests that kill or freeze it. It notes what it does, in
// the file LOG and on its output.

import { appendFileSync, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createReceiver } from 'posthorn';
import { createBullQueue, createBullWorker } from 'posthorn/bullmq';
import { toNode } from 'posthorn/node';
import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';

const { ROLE, REDIS_PORT, SCOPE, LOG, KEY, GATES } = process.env;

function note(...words) {
  const line = [process.pid, ...words].join(' ');
  // Synchronously: what a kill cuts off after this has been noted.
  appendFileSync(LOG, `${line}\n`);
  process.stdout.write(`${line}\n`);
}

const connection = { host: '127.0.0.1', port: Number(REDIS_PORT) };
const redis = new Redis({ ...connection, socketTimeout: 5_000 });
redis.on('error', (error) => note('redis', error.message));
await new Promise((resolve) => redis.once('ready', resolve));

const queue = createBullQueue({ connection, scope: SCOPE });
const receiver = createReceiver({
  signingKey: KEY,
  store: createRedisStore(redis, { scope: SCOPE }),
  deadLetters: createRedisDeadLetters(redis, { scope: SCOPE }),
  // Killed between the queue's answer and the sender's.
  queue: ROLE === 'killed' ? { ...queue, add: (job) => queue.add(job).then(die) } : queue,
  leaseMs: 1_000,
})
  .on(
    '*',
    async ({ id }, { attempt, signal }) => {
      note('begun', id, attempt);
      signal.addEventListener('abort', () => note('aborted', id, signal.reason.code));
      while (!existsSync(`${GATES}/${process.pid}`)) await sleep(20);
      if (signal.aborted) throw signal.reason;
      note('handled', id);
    },
    { name: 'work', queue: true },
  )
  .observe(({ event, outcome, code }) => note('reported', event?.id, outcome, code));

function die() {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => {});
}

if (ROLE === 'worker') {
  const worker = createBullWorker(receiver, { connection, scope: SCOPE });
  process.once('SIGTERM', async () => {
    await worker.close();
    await receiver.close();
    await queue.close();
    redis.disconnect();
    note('closed');
  });
  note('working');
} else {
  const server = createServer(toNode(receiver));
  server.listen(0, '127.0.0.1', () => note('listening', server.address().port));
}
