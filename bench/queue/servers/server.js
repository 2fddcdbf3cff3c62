import { Queue as BullQueue, createPostgresBackend } from 'bullmq';
import pg from 'pg';
import { createMemoryStore } from '../../../dist/src/index.js';
import { createBullQueue, createBullWorker } from '../../../dist/src/queues/bullmq/index.js';
import { JOB_OPTIONS } from '../../../dist/src/queues/bullmq/job-options.js';
import { createPostgresStore } from '../../../dist/src/stores/postgres/index.js';
import { createRedisStore } from '../../../dist/src/stores/redis/index.js';
import { connectRedis } from '../../contenders/redis-client.js';

/** @typedef {'redis' | 'postgres'} Backend */
/** @typedef {Pick<BullQueue, 'add' | 'addBulk' | 'drain' | 'getWaitingCount' | 'getJobCountByTypes'>} Engine */

/**
 * A server as the processes of the benchmark use it. All have their connections to themselves, so that none
 * waits for another.
 *
 * @typedef {object} Server
 * @property {(scope: string) => import('../../../dist/src/index.js').Queue} createQueue
 * @property {(receiver: import('../../../dist/src/index.js').Receiver, scope: string, concurrency: number) => import('../../../dist/src/queues/bullmq/index.js').BullWorker} createWorker
 * @property {(scope: string) => Engine} createEngine the queue of BullMQ, with the options of posthorn's jobs
 * @property {(scope: string) => Promise<import('../../../dist/src/index.js').Store>} createStore
 * @property {(engine: Engine) => Promise<unknown>} empty removes the jobs that wait
 */

/** @type {Readonly<Record<Backend, () => Server>>} */
const openers = { redis: openRedis, postgres: openPostgres };

/** @param {Backend} backend */
export function openServer(backend) {
  return openers[backend]();
}

/** @returns {Server} */
function openRedis() {
  const connection = { host: '127.0.0.1', port: Number(process.env.REDIS_PORT) };
  return {
    createQueue: (scope) => createBullQueue({ connection, scope }),
    createWorker: (receiver, scope, concurrency) =>
      createBullWorker(receiver, { connection, scope, concurrency }),
    createEngine: (scope) =>
      new BullQueue(scope, { connection, prefix: '{posthorn}', defaultJobOptions: JOB_OPTIONS }),
    createStore: async (scope) =>
      process.env.STORE === 'memory'
        ? createMemoryStore()
        : createRedisStore(await connectRedis({ enableAutoPipelining: true }), { scope }),
    empty: (engine) => engine.drain(),
  };
}

/** @returns {Server} */
function openPostgres() {
  const connectionString = process.env.POSTGRES_URL;
  // Through PgBouncer the role says where the tables are.
  const place = process.env.PGBOUNCER === undefined ? { options: '-c search_path=bullmq' } : {};
  const createPool = () => new pg.Pool({ connectionString, ...place });
  const backend = 'postgres';
  const emptying = createPool();
  return {
    createQueue: (scope) => createBullQueue({ backend, connection: createPool(), scope }),
    createWorker: (receiver, scope, concurrency) =>
      createBullWorker(receiver, { backend, connection: createPool(), scope, concurrency }),
    createEngine: (scope) =>
      new BullQueue(
        scope,
        { connection: createPool(), defaultJobOptions: JOB_OPTIONS },
        createPostgresBackend,
      ),
    createStore: async (scope) =>
      process.env.STORE === 'memory'
        ? createMemoryStore()
        : createPostgresStore(new pg.Pool({ connectionString }), { scope }),
    // Dead rows would slow down the turns that follow.
    empty: () => emptying.query('truncate bullmq.job, bullmq.event cascade'),
  };
}
