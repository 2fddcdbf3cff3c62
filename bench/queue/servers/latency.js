import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { bearerToken, signingKey } from '../../contenders/credentials.js';
import { Child } from '../../run/child.js';
import { startPgBouncer } from '../../run/pgbouncer-server.js';
import { nextBody } from './jobs.js';
import { BACKENDS, programOf, TITLES } from './start-servers.js';

/**
 * Times in milliseconds: from the sending of an event to its answer, and from the answer to the start of its
 * handler, which is negative if the worker was faster than the answer.
 *
 * @typedef {{ answerMs: number, startMs: number }} Latency
 */

/**
 * A receiver and a worker.
 *
 * @typedef {{ title: string, receiver: Child, worker: Child }} Pair
 */

/** Rests between events, of random length, so that the worker is idle and at no special point of its wait. */
const LEAST_REST_MS = 20;
const MOST_REST_MS = 60;
const agent = new Agent({ keepAlive: true });

/**
 * Measures the time from the 202 to the start of the handler, in an idle worker; one event at a time.
 *
 * @param {import('./start-servers.js').Servers} servers
 * @param {number} events
 * @param {number} bouncedEvents through PgBouncer
 * @returns {Promise<import('./start-servers.js').Table>}
 */
export async function measureLatency(servers, events, bouncedEvents) {
  const rows = await measurePairs(
    BACKENDS.map((backend) => startPair(TITLES[backend], { ...servers.environment, BACKEND: backend })),
    events,
  );
  if (bouncedEvents > 0) rows.push(...(await measureThroughPgBouncer(servers, bouncedEvents)));
  return {
    title: `Latency: ${events} events one at a time, an idle worker; milliseconds`,
    head: ['server', 'answer, p50', 'p99', 'from the 202 to the handler, p50', 'p99', 'in all, p50', 'p99'],
    rows,
  };
}

/**
 * @param {import('./start-servers.js').Servers} servers
 * @param {number} events
 */
async function measureThroughPgBouncer({ pool, postgres, environment }, events) {
  await pool.query('create role bounced superuser login');
  await pool.query('alter role bounced set search_path = bullmq');
  const bouncer = await startPgBouncer(postgres.url, 'bounced');
  try {
    const own = { ...environment, BACKEND: 'postgres', POSTGRES_URL: bouncer.url, PGBOUNCER: 'yes' };
    return await measurePairs([startPair(`PostgreSQL through PgBouncer, ${events} events`, own)], events);
  } finally {
    await bouncer.stop();
  }
}

/**
 * @param {string} title
 * @param {NodeJS.ProcessEnv} environment
 * @returns {Pair}
 */
function startPair(title, environment) {
  return {
    title,
    receiver: new Child('server', [programOf('receiver.js')], environment),
    worker: new Child('load', [programOf('worker.js')], environment),
  };
}

/**
 * Measures the pairs by turns, and stops them.
 *
 * @param {readonly Pair[]} pairs
 * @param {number} events
 */
async function measurePairs(pairs, events) {
  try {
    return await takeTurns(pairs, events);
  } finally {
    await Promise.all(pairs.flatMap(({ receiver, worker }) => [receiver.stop(), worker.stop()]));
  }
}

/**
 * @param {readonly Pair[]} pairs
 * @param {number} events
 */
async function takeTurns(pairs, events) {
  const ready = await Promise.all(
    pairs.map(async ({ title, receiver, worker }) => {
      const { port } = await receiver.message();
      await worker.message();
      worker.send({ type: 'watch' });
      return { title, port, worker, latencies: /** @type {Latency[]} */ ([]) };
    }),
  );
  const warmUp = Math.ceil(events / 10);
  for (let event = -warmUp; event < events; event += 1) {
    for (const { port, worker, latencies } of ready) {
      const latency = await deliver(port, worker);
      if (event >= 0) latencies.push(latency);
      await sleep(LEAST_REST_MS + Math.random() * (MOST_REST_MS - LEAST_REST_MS));
    }
  }
  return ready.map(({ title, latencies }) => toRow(title, latencies));
}

/**
 * @param {number} port
 * @param {Child} worker
 * @returns {Promise<Latency>}
 */
async function deliver(port, worker) {
  const { id, body } = nextBody();
  const signature = createHmac('sha256', signingKey).update(body).digest('hex');
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${bearerToken}`,
    'x-service-signature': signature,
  };
  const sentAt = now();
  const delivery = request({ host: '127.0.0.1', port, method: 'POST', path: '/', agent, headers });
  delivery.end(body);
  const [response] = await once(delivery, 'response');
  const answeredAt = now();
  response.resume();
  if (response.statusCode !== 202) throw new Error(`a delivery was answered ${response.statusCode}`);
  const started = await worker.message();
  if (started.id !== id) throw new Error(`the handler of ${started.id} started instead of ${id}`);
  return { answerMs: answeredAt - sentAt, startMs: started.startedAt - answeredAt };
}

/** All processes of a machine share this clock. */
function now() {
  return Number(process.hrtime.bigint()) / 1e6;
}

/**
 * @param {string} title
 * @param {readonly Latency[]} latencies
 */
function toRow(title, latencies) {
  const answers = latencies.map(({ answerMs }) => answerMs);
  const starts = latencies.map(({ startMs }) => startMs);
  const whole = latencies.map(({ answerMs, startMs }) => answerMs + startMs);
  return [title, ...[answers, starts, whole].flatMap((times) => [partAt(times, 0.5), partAt(times, 0.99)])];
}

/**
 * @param {readonly number[]} times
 * @param {number} part of them are shorter than the returned one
 */
function partAt(times, part) {
  const sorted = times.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length * part)].toFixed(1);
}
