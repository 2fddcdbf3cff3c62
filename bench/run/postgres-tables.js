import pg from 'pg';
import { migratePostgres } from '../../dist/src/stores/postgres/index.js';
import { pinned } from './pinning.js';
import { startPostgres } from './postgres-server.js';

/** What the hand-written contenders keep, and the ledger of all. */
const TABLES = `
create schema bench;
create table bench.events (id text primary key, claimed_until timestamptz, completed_at timestamptz)
  with (fillfactor = 85);
create table bench.inbox (
  event_id text, handler text, handled_at timestamptz default now(), primary key (event_id, handler)
);
create table bench.ledger (event_id text, amount integer);
`;

/**
 * Starts a PostgreSQL of our own, with the tables of posthorn and those of the hand-written contenders. What
 * is committed is handed to the system, and not waited for: a disk that others use as well would be measured.
 *
 * @returns {Promise<{ url: string, empty: () => Promise<void>, stop: () => Promise<void> }>}
 */
export async function startPostgresWithTables() {
  const server = await startPostgres({ fsync: 'off', max_wal_size: '4GB' }, (command) =>
    pinned('store', command),
  );
  const pool = new pg.Pool({ connectionString: server.url });
  await migratePostgres(pool);
  await pool.query(TABLES);
  return {
    url: server.url,
    empty: async () => {
      await pool.query('truncate posthorn.events, posthorn.inbox, bench.events, bench.inbox, bench.ledger');
      await pool.query('checkpoint');
    },
    stop: async () => {
      await pool.end();
      await server.stop();
    },
  };
}
