// A burst of events whose handlers are slow: how long their answers take, and whether two workers handle all
// of them, and none twice. Starts a Redis of its own.
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Child } from '../run/child.js';
import { startRedis } from '../run/redis-server.js';

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '2000' },
    rate: { type: 'string', default: '200' },
    'handler-ms': { type: 'string', default: '2000' },
    concurrency: { type: 'string', default: '200' },
  },
});
const [events, rate] = [values.events, values.rate].map(Number);
const MOST_P50_MS = 100;
const MOST_P99_MS = 1_000;
const pathOf = (/** @type {string} */ path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

const redis = await startRedis();
const environment = {
  REDIS_PORT: String(redis.port),
  HANDLER_MS: values['handler-ms'],
  CONCURRENCY: values.concurrency,
};
const server = new Child('server', [pathOf('contenders/posthorn-queue.js'), '--redis-store'], environment);
const load = new Child('load', [pathOf('load/generator.js')]);
const workers = [1, 2].map(() => new Child('load', [pathOf('queue/worker.js')], environment));
try {
  const [{ port }] = await Promise.all([server, ...workers].map((child) => child.message()));
  const startedAt = performance.now();
  const { p50Ms, p99Ms, refused, sent } = await deliver(port);
  const answeredMs = performance.now() - startedAt;
  const byWorker = await handledBy(workers, sent);
  const handledMs = performance.now() - startedAt;
  const ids = byWorker.flat();
  const twice = ids.length - new Set(ids).size;
  console.log(
    `${sent} events at ${rate}/s, ${refused} refused: all answered after ${seconds(answeredMs)}, ` +
      `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms\n` +
      `handlers of ${values['handler-ms']} ms: all done after ${seconds(handledMs)}, ` +
      `by worker ${byWorker.map(({ length }) => length).join(' and ')}, twice ${twice}`,
  );
  const isMet = refused + twice === 0 && p50Ms < MOST_P50_MS && p99Ms < MOST_P99_MS;
  console.log(
    `p50 < ${MOST_P50_MS} ms, p99 < ${MOST_P99_MS} ms, none refused, none twice: ${isMet ? 'pass' : 'MISS'}`,
  );
} finally {
  await Promise.all([server, load, ...workers].map((child) => child.stop()));
  await redis.stop();
}

/** @param {number} port */
async function deliver(port) {
  const target = { port, scheme: 'service', bodyBytes: 700, connections: 50 };
  // One second more than the events need: they run out first.
  await load.ask({
    type: 'fixedRate',
    target,
    count: events,
    rate,
    durationMs: (events * 1_000) / rate + 1_000,
  });
  return (await load.message()).result;
}

/**
 * The ids that each worker has handled, once they are as many as were sent.
 *
 * @param {readonly Child[]} children
 * @param {number} count
 * @returns {Promise<string[][]>}
 */
async function handledBy(children, count) {
  for (;;) {
    const answers = await Promise.all(children.map((child) => child.ask({ type: 'handled' })));
    const handled = answers.map((answer) => answer.handled);
    if (handled.flat().length >= count) return handled;
    await sleep(200);
  }
}

/** @param {number} ms */
function seconds(ms) {
  return `${(ms / 1_000).toFixed(1)} s`;
}
