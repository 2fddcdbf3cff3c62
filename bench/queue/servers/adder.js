// Adds jobs to queues, in turns: through posthorn, or through the engine alone.
import { jobIdOf } from '../../../dist/src/queues/bullmq/job-id.js';
import { nextJob } from './jobs.js';
import { openServer } from './server.js';

/** @typedef {import('./server.js').Backend} Backend */
/** @typedef {'posthorn' | 'engine'} Adder */

/**
 * @typedef {object} AddRequest
 * @property {Backend} backend
 * @property {Adder} adder
 * @property {number} atOnce
 * @property {number} ms how long jobs are added
 * @property {boolean} isKept true to leave the jobs in the queue
 */

/** @typedef {{ jobs: number, perSecond: number, cpuMicroseconds: number }} Added */

const places = { redis: openPlace('redis'), postgres: openPlace('postgres') };

/** @param {Backend} backend */
function openPlace(backend) {
  const server = openServer(backend);
  const queue = server.createQueue('posthorn');
  const engines = { posthorn: server.createEngine('posthorn'), engine: server.createEngine('engine') };
  const add = {
    posthorn: () => queue.add(nextJob()),
    engine: () => {
      const job = nextJob();
      return engines.engine.add(job.type, job.toJSON(), { jobId: jobIdOf(job.id) });
    },
  };
  return { server, engines, add };
}

/**
 * @param {AddRequest} request
 * @returns {Promise<Added>}
 */
async function measure({ backend, adder, atOnce, ms, isKept }) {
  const { server, engines, add } = places[backend];
  let jobs = 0;
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const addUntilEnd = async () => {
    while (performance.now() < startedAt + ms) {
      await add[adder]();
      jobs += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, addUntilEnd));
  const elapsedMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpuBefore);
  const waiting = await engines[adder].getWaitingCount();
  if (waiting !== jobs) throw new Error(`${jobs} jobs were added, and ${waiting} are in the queue`);
  if (!isKept) await server.empty(engines[adder]);
  return { jobs, perSecond: (jobs * 1_000) / elapsedMs, cpuMicroseconds: (user + system) / jobs };
}

process.on('message', async (/** @type {{ type: 'stop' } | ({ type: 'add' } & AddRequest)} */ request) => {
  if (request.type === 'stop') process.exit();
  process.send?.(await measure(request).catch(({ message }) => ({ type: 'failure', message })));
});
