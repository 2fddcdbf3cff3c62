import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { migrateBullQueue } from '../../../dist/src/queues/bullmq/index.js';
import { migratePostgres } from '../../../dist/src/stores/postgres/index.js';
import { pinned } from '../../run/pinning.js';
import { startPostgres } from '../../run/postgres-server.js';
import { startRedis } from '../../run/redis-server.js';

/** @typedef {Awaited<ReturnType<typeof startServers>>} Servers */
/** @typedef {{ title: string, head: readonly string[], rows: readonly (readonly string[])[] }} Table */

export const BACKENDS = /** @type {const} */ (['postgres', 'redis']);
export const TITLES = { postgres: 'PostgreSQL', redis: 'Redis' };

/** @param {string} name of a program of this folder */
export const programOf = (name) => fileURLToPath(new URL(name, import.meta.url));

/**
 * A PostgreSQL with the tables of the queue and the store, and a Redis as a queue needs it.
 *
 * @param {string} fsync
 * @param {Readonly<Record<string, string>>} [settings] of PostgreSQL
 */
export async function startServers(fsync, settings = {}) {
  // No checkpoint while a turn is measured.
  const own = { fsync, max_wal_size: '8GB', checkpoint_timeout: '1h', ...settings };
  const [redis, postgres] = await Promise.all([
    startRedis(['--appendonly', 'yes']),
    startPostgres(own, (command) => pinned('store', command)),
  ]);
  const pool = new pg.Pool({ connectionString: postgres.url });
  await migrateBullQueue(pool);
  await migratePostgres(pool);
  return {
    redis,
    postgres,
    pool,
    environment: { REDIS_PORT: String(redis.port), POSTGRES_URL: postgres.url },
    stop: async () => {
      await pool.end();
      await Promise.all([redis.stop(), postgres.stop()]);
    },
  };
}
