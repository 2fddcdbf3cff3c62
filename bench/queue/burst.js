// A burst of events whose handlers are slow: how long their answers take, and whether two workers handle all
// of them, and none twice. Once at a steady rate, and once all at the same moment. Starts a Redis of its own.
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Queue } from 'bullmq';
import { Child } from '../run/child.js';
import { startRedis } from '../run/redis-server.js';

/** @typedef {{ name: string, rate: number, connections: number }} Burst */
/** @typedef {{ sent: number, refused: number, p50Ms: number, p99Ms: number }} Answers */

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '2000' },
    // More than the workers handle (2 × 200 at once, in 2 seconds), and less than the receiver can take: past
    // that the latency would tell how long the line in front of it is.
    rate: { type: 'string', default: '500' },
    'handler-ms': { type: 'string', default: '2000' },
    concurrency: { type: 'string', default: '200' },
  },
});
const [events = 0, rate = 0] = [values.events, values.rate].map(Number);
const MOST_P50_MS = 100;
const MOST_P99_MS = 1_000;
const steady = { name: `at ${rate}/s`, rate, connections: 50 };
// A rate at which all are due within a millisecond, and a connection for each.
const atOnce = { name: 'all at once', rate: events * 1_000, connections: events };
const pathOf = (/** @type {string} */ path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

const redis = await startRedis();
const environment = {
  REDIS_PORT: String(redis.port),
  HANDLER_MS: values['handler-ms'],
  CONCURRENCY: values.concurrency,
};
const queue = new Queue('bench', {
  connection: { host: '127.0.0.1', port: redis.port },
  prefix: '{posthorn}',
});
const server = new Child('server', [pathOf('contenders/posthorn-queue.js'), '--redis-store'], environment);
const workers = [1, 2].map(() => new Child('load', [pathOf('queue/worker.js')], environment));
try {
  const [{ port }] = await Promise.all([server, ...workers].map((child) => child.message()));
  const answers = await measure(steady, port);
  const isFast = answers.p50Ms < MOST_P50_MS && answers.p99Ms < MOST_P99_MS;
  console.log(
    `${steady.name}: p50 < ${MOST_P50_MS} ms, p99 < ${MOST_P99_MS} ms: ${isFast ? 'pass' : 'MISS'}`,
  );
  const answersAtOnce = await measure(atOnce, port);
  const ids = (await askWorkers()).flat();
  const refused = answers.refused + answersAtOnce.refused;
  const twice = ids.length - new Set(ids).size;
  const lost = answers.sent + answersAtOnce.sent - refused - new Set(ids).size;
  const isWhole = refused + twice + lost === 0;
  // Latency varies with the machine; this does not.
  if (!isWhole) process.exitCode = 1;
  console.log(
    `refused ${refused}, handled twice ${twice}, acknowledged and not handled ${lost}: ${isWhole ? 'pass' : 'MISS'}`,
  );
} finally {
  await queue.close();
  await Promise.all([server, ...workers].map((child) => child.stop()));
  await redis.stop();
}

/**
 * Sends the events, and waits until the workers are done with them.
 *
 * @param {Burst} burst
 * @param {number} port
 * @returns {Promise<Answers>}
 */
async function measure({ name, rate, connections }, port) {
  const earlier = await askWorkers();
  const startedAt = performance.now();
  const { begunMs, ...answers } = await deliver({ rate, connections }, port);
  const answeredMs = performance.now() - startedAt - begunMs;
  await isEmptied();
  const handledMs = performance.now() - startedAt - begunMs;
  const counts = (await askWorkers()).map((ids, index) => ids.length - (earlier[index]?.length ?? 0));
  console.log(
    `${answers.sent} events ${name}: all answered after ${seconds(answeredMs)}, ` +
      `p50 ${answers.p50Ms.toFixed(1)} ms, p99 ${answers.p99Ms.toFixed(1)} ms; ` +
      `all handled after ${seconds(handledMs)}, by the workers ${counts.join(' and ')}`,
  );
  return answers;
}

/**
 * @param {Pick<Burst, 'rate' | 'connections'>} burst
 * @param {number} port
 * @returns {Promise<Answers & { begunMs: number }>} how long the generator took to connect and to sign
 */
async function deliver({ rate, connections }, port) {
  const load = new Child('load', [pathOf('load/generator.js')]);
  try {
    const startedAt = performance.now();
    // One second more than the events need: they run out first.
    const durationMs = (events * 1_000) / rate + 1_000;
    const target = { port, scheme: 'service', bodyBytes: 700, connections };
    await load.ask({ type: 'fixedRate', target, count: events, rate, durationMs });
    const begunMs = performance.now() - startedAt;
    return { ...(await load.message()).result, begunMs };
  } finally {
    await load.stop();
  }
}

/** Resolves once the queue has no jobs but failed ones. An event that is to be handled again is still there. */
async function isEmptied() {
  while ((await queue.getJobCountByTypes('waiting', 'active', 'delayed')) > 0) await sleep(50);
}

/**
 * The ids that each worker has handled.
 *
 * @returns {Promise<string[][]>}
 */
async function askWorkers() {
  const answers = await Promise.all(workers.map((worker) => worker.ask({ type: 'handled' })));
  return answers.map(({ handled }) => handled);
}

/** @param {number} ms */
function seconds(ms) {
  return `${(ms / 1_000).toFixed(1)} s`;
}
