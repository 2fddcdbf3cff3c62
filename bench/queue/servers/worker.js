// A worker of posthorn with an empty handler: it handles jobs in turns, or tells when each handler starts.
import { createReceiver } from '../../../dist/src/index.js';
import { jobIdOf } from '../../../dist/src/queues/bullmq/job-id.js';
import { bearerToken, signingKey } from '../../contenders/credentials.js';
import { nextJob } from './jobs.js';
import { openServer } from './server.js';

const SCOPE = 'posthorn';
const FILLED_AT_ONCE = 500;

/** @typedef {{ type: 'handle', jobs: number, concurrency: number, isFilled: boolean }} HandleRequest */
/** @typedef {{ perSecond: number, cpuMicroseconds: number }} Handled */

const backend = process.env.BACKEND === 'postgres' ? 'postgres' : 'redis';
const server = openServer(backend);
const engine = server.createEngine(SCOPE);
/** @type {(id: string) => void} */
let onStart = () => {};

const receiver = createReceiver({
  signingKey,
  authentication: { type: 'BEARER', bearer: { token: bearerToken } },
  store: await server.createStore(SCOPE),
  queue: server.createQueue(SCOPE),
}).on('transfer.succeeded', async ({ id }) => onStart(id), { name: 'book', queue: true });
receiver.observe(({ outcome, error }) => {
  if (outcome !== 'processed') process.send?.({ type: 'failure', message: `${outcome}: ${error?.message}` });
});

/** @param {number} jobs */
async function fill(jobs) {
  for (let left = jobs; left > 0; left -= FILLED_AT_ONCE) {
    const some = Array.from({ length: Math.min(left, FILLED_AT_ONCE) }, nextJob);
    await engine.addBulk(
      some.map((job) => ({ name: job.type, data: job.toJSON(), opts: { jobId: jobIdOf(job.id) } })),
    );
  }
}

/**
 * Handles so many jobs, from the start of the first handler to that of the last.
 *
 * @param {HandleRequest} request
 * @returns {Promise<Handled>}
 */
async function handle({ jobs, concurrency, isFilled }) {
  if (!isFilled) await fill(jobs);
  let handled = 0;
  let startedAt = 0;
  let cpuBefore = process.cpuUsage();
  const finished = new Promise((resolve) => {
    onStart = () => {
      handled += 1;
      if (handled === 1) {
        startedAt = performance.now();
        cpuBefore = process.cpuUsage();
      }
      if (handled === jobs) resolve(performance.now());
    };
  });
  const worker = server.createWorker(receiver, SCOPE, concurrency);
  const elapsedMs = (await finished) - startedAt;
  const { user, system } = process.cpuUsage(cpuBefore);
  await worker.close();
  const left = await engine.getJobCountByTypes('waiting', 'active', 'delayed', 'failed');
  if (left > 0 || handled !== jobs)
    throw new Error(`${handled} of ${jobs} jobs were handled, ${left} are left`);
  return { perSecond: ((jobs - 1) * 1_000) / elapsedMs, cpuMicroseconds: (user + system) / (jobs - 1) };
}

/** Runs for as long as the process, and tells when each handler starts. */
function watch() {
  onStart = (id) => process.send?.({ id, startedAt: Number(process.hrtime.bigint()) / 1e6 });
  server.createWorker(receiver, SCOPE, 10);
}

process.on('message', async (/** @type {{ type: 'stop' } | { type: 'watch' } | HandleRequest} */ request) => {
  if (request.type === 'stop') process.exit();
  if (request.type === 'watch') return watch();
  process.send?.(await handle(request).catch(({ message }) => ({ type: 'failure', message })));
});
process.send?.({ type: 'ready' });
