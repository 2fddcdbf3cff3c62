// A receiver, or a worker, in a process of its own, for tests that kill or freeze it. It notes what it does, in
// the file LOG and on its output.

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createReceiver } from 'posthorn';
import { createBullQueue, createBullWorker } from 'posthorn/bullmq';
import { toNode } from 'posthorn/node';
import { openPostgres, openRedis } from './process-servers.mjs';

const { ROLE, REDIS_PORT, POSTGRES_PORT, SCOPE, LOG, KEY, GATES, IS_GATED, IS_KEYED } = process.env;
const { DIES_AT, LEASE_MS, CONCURRENCY, WORK_MS, CLOCK_AHEAD_MS } = process.env;

if (CLOCK_AHEAD_MS !== undefined) {
  const now = Date.now;
  Date.now = () => now() + Number(CLOCK_AHEAD_MS);
}

function note(...words) {
  const line = [process.pid, ...words].join(' ');
  // Synchronously: what a kill cuts off after this has been noted.
  appendFileSync(LOG, `${line}\n`);
  process.stdout.write(`${line}\n`);
}

/**
 * Waits until the gate of this process is open; where it is not gated, for a moment, and while it is held.
 * An event of a transfer that has failed kills the process.
 */
async function work({ id, type }) {
  if (type === 'transfer.failed') {
    await sleep(50);
    process.kill(process.pid, 'SIGKILL');
  }
  if (WORK_MS !== undefined) {
    await sleep(Number(WORK_MS));
    return;
  }
  if (IS_GATED) {
    while (!existsSync(`${GATES}/${process.pid}`)) await sleep(20);
    return;
  }
  await sleep(20 + Math.random() * 130);
  while (isHeld(id)) await sleep(20);
}

/** The file names the events that are held; where it is empty, all are. */
function isHeld(id) {
  try {
    const ids = readFileSync(`${GATES}/${process.pid}-held`, 'utf8');
    return ids === '' || ids.includes(id);
  } catch (error) {
    if (error.code === 'ENOENT') return false;
    throw error;
  }
}

const onError = (error) => note('server', error.message);
const { store, deadLetters, queueOptions, close } =
  POSTGRES_PORT === undefined
    ? await openRedis(Number(REDIS_PORT), SCOPE, onError)
    : openPostgres(Number(POSTGRES_PORT), SCOPE, onError);
const queue = createBullQueue(queueOptions);
let added = 0;

/** At the given job the process is killed between the queue's answer and the sender's. */
async function add(job) {
  // An event that is acknowledged before it is in the queue is lost where a kill falls here.
  if (!IS_GATED) await sleep(Math.random() * 100);
  await queue.add(job);
  added += 1;
  if (added !== Number(DIES_AT)) return;
  process.kill(process.pid, 'SIGKILL');
  await new Promise(() => {});
}

const receiver = createReceiver({
  signingKey: KEY,
  store,
  deadLetters,
  queue: { ...queue, add },
  leaseMs: Number(LEASE_MS),
})
  .on(
    ROLE === 'stranger' ? 'dispute.*' : '*',
    async (event, { attempt, signal }) => {
      const { id } = event;
      note('begun', id, attempt);
      signal.addEventListener('abort', () => note('aborted', id, signal.reason.code));
      await work(event);
      if (signal.aborted) throw signal.reason;
      note('handled', id);
      // Kills are to fall here too, between the effect and its recording.
      if (!IS_GATED) await sleep(Math.random() * 30);
    },
    { name: 'work', queue: true, ...(IS_KEYED && { concurrencyKey: ({ data }) => data.id }) },
  )
  .observe(({ event, outcome, code }) => note('reported', event?.id, outcome, code));

if (ROLE === 'receiver') {
  const server = createServer({ keepAliveTimeout: 0 }, toNode(receiver));
  server.listen(0, '127.0.0.1', () => note('listening', server.address().port));
} else {
  const concurrency = Number(CONCURRENCY ?? 10);
  const worker = createBullWorker(receiver, { ...queueOptions, concurrency });
  process.once('SIGTERM', async () => {
    await worker.close();
    await receiver.close();
    await queue.close();
    await close();
    note('closed');
  });
  note('working');
}
