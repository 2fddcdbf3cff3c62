import { Redis } from 'ioredis';
import { Child } from '../../run/child.js';
import { BACKENDS, programOf, TITLES } from './start-servers.js';

/** @typedef {{ size: number, log: number }} Bytes */

const ADDING_MS = 2_000;

/**
 * Bytes of a job of an event of 700 bytes: where it waits, and in the log of its server. The store of the
 * worker is in memory, so that only the queue writes.
 *
 * @param {import('./start-servers.js').Servers} servers
 * @returns {Promise<import('./start-servers.js').Table>}
 */
export async function measureBytes(servers) {
  const rows = [];
  for (const backend of BACKENDS) rows.push(await measure(servers, backend));
  return {
    title: 'Bytes of a job, of an event of 700 bytes',
    head: ['server', 'while it waits', 'log when it is added', 'log in all, once it is done', 'left behind'],
    rows,
  };
}

/**
 * @param {import('./start-servers.js').Servers} servers
 * @param {'postgres' | 'redis'} backend
 */
async function measure(servers, backend) {
  const environment = { ...servers.environment, BACKEND: backend, STORE: 'memory' };
  const read = () => (backend === 'postgres' ? readPostgres(servers.pool) : readRedis(servers.redis.port));
  const adder = new Child('server', [programOf('adder.js')], environment);
  const worker = new Child('server', [programOf('worker.js')], environment);
  try {
    await worker.message();
    if (backend === 'postgres') await servers.pool.query('truncate bullmq.job, bullmq.event cascade');
    const before = await read();
    const request = { type: 'add', backend, adder: 'posthorn', atOnce: 32, ms: ADDING_MS, isKept: true };
    const { jobs } = await adder.ask(request);
    const added = await read();
    await worker.ask({ type: 'handle', jobs, concurrency: 50, isFilled: true });
    const done = await read();
    const each = (/** @type {number} */ bytes) => Math.round(bytes / jobs).toLocaleString('en-US');
    return [
      `${TITLES[backend]}, ${jobs.toLocaleString('en-US')} jobs`,
      each(added.size - before.size),
      each(added.log - before.log),
      each(done.log - before.log),
      each(done.size - before.size),
    ];
  } finally {
    await Promise.all([adder.stop(), worker.stop()]);
  }
}

/**
 * @param {import('pg').Pool} pool
 * @returns {Promise<Bytes>}
 */
async function readPostgres(pool) {
  const { rows } = await pool.query(
    `select pg_current_wal_lsn() - '0/0' as log,
       (select sum(pg_total_relation_size(oid)) from pg_class
        where relnamespace = 'bullmq'::regnamespace and relkind = 'r') as size`,
  );
  return { size: Number(rows[0].size), log: Number(rows[0].log) };
}

/**
 * @param {number} port
 * @returns {Promise<Bytes>}
 */
async function readRedis(port) {
  const redis = new Redis({ host: '127.0.0.1', port });
  try {
    const info = `${await redis.info('memory')}${await redis.info('persistence')}`;
    const read = (/** @type {string} */ name) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]);
    return { size: read('used_memory_dataset'), log: read('aof_current_size') };
  } finally {
    redis.disconnect();
  }
}
