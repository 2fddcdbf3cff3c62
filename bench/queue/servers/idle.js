import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Child } from '../../run/child.js';
import { startRedis } from '../../run/redis-server.js';
import { programOf, startServers } from './start-servers.js';

/** @typedef {'queue' | 'worker'} Idler */

const IDLERS = /** @type {const} */ (['queue', 'worker']);
/** A worker sweeps its failed jobs each minute, so that two of them are the least that tells something. */
const LEAST_MS = 120_000;
/** Until then a process may still be starting. */
const SETTLE_MS = 3_000;

/**
 * Starts a queue to which nothing is added, and a worker without jobs, on servers of their own. PostgreSQL tells
 * their statements apart by their roles. Redis counts for all clients, so each has one for itself.
 */
export async function startIdlers() {
  const servers = await startServers('off', { shared_preload_libraries: 'pg_stat_statements' });
  const { pool, postgres, redis } = servers;
  await pool.query('create extension pg_stat_statements');
  const redisOfWorker = await startRedis(['--appendonly', 'yes']);
  const ports = { queue: redis.port, worker: redisOfWorker.port };
  const children = await Promise.all(
    IDLERS.map(async (idler) => {
      await pool.query(`create role ${idler} superuser login`);
      const url = postgres.url.replace('postgres@', `${idler}@`);
      return [
        startIdler(idler, { BACKEND: 'postgres', POSTGRES_URL: url }),
        startIdler(idler, { BACKEND: 'redis', REDIS_PORT: String(ports[idler]) }),
      ];
    }),
  ).then((started) => started.flat());
  await Promise.all(children.map((child) => child.message()));
  await sleep(SETTLE_MS);
  const count = async (/** @type {Idler} */ idler) => ({
    postgres: await countStatements(pool, idler),
    redis: await countCommands(ports[idler]),
  });
  const before = { queue: await count('queue'), worker: await count('worker') };
  const startedAt = performance.now();
  return {
    count: async () => {
      await sleep(Math.max(0, LEAST_MS - (performance.now() - startedAt)));
      const hours = (performance.now() - startedAt) / 3_600_000;
      const after = { queue: await count('queue'), worker: await count('worker') };
      const perHour = (/** @type {Idler} */ idler, /** @type {'postgres' | 'redis'} */ backend) =>
        Math.round((after[idler][backend] - before[idler][backend]) / hours).toLocaleString('en-US');
      return {
        title: `Idle: an hour, counted over ${Math.round(hours * 3_600)} s`,
        head: ['process', 'statements of PostgreSQL', 'commands of Redis, with those inside scripts'],
        rows: IDLERS.map((idler) => [idler, perHour(idler, 'postgres'), perHour(idler, 'redis')]),
      };
    },
    stop: async () => {
      await Promise.all(children.map((child) => child.stop()));
      await Promise.all([servers.stop(), redisOfWorker.stop()]);
    },
  };
}

/**
 * @param {Idler} idler
 * @param {NodeJS.ProcessEnv} environment
 */
function startIdler(idler, environment) {
  return new Child('load', [programOf('idler.js')], { ...environment, IDLER: idler });
}

/**
 * @param {import('pg').Pool} pool
 * @param {Idler} role
 */
async function countStatements(pool, role) {
  const { rows } = await pool.query(
    `select coalesce(sum(calls), 0) as calls from pg_stat_statements
     where userid = (select oid from pg_roles where rolname = $1)`,
    [role],
  );
  return Number(rows[0].calls);
}

/** @param {number} port */
async function countCommands(port) {
  const redis = new Redis({ host: '127.0.0.1', port });
  try {
    const stats = await redis.info('commandstats');
    // Those of this client do not count.
    const lines = [...stats.matchAll(/^cmdstat_([\w|]+):calls=(\d+)/gm)].filter(
      ([, name]) => name !== 'info',
    );
    return lines.reduce((sum, [, , calls]) => sum + Number(calls), 0);
  } finally {
    redis.disconnect();
  }
}
