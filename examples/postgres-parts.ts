import { Pool } from 'pg';
import type { DeadLetters, Store } from 'posthorn';
import {
  createPostgresDeadLetters,
  createPostgresInbox,
  createPostgresStore,
  migratePostgres,
  type PostgresInbox,
} from 'posthorn/postgres';

/** Creates the tables, and then the store, the dead letters and the inbox of the example. */
export async function createPostgresParts(
  connectionString: string,
): Promise<{ readonly store: Store; readonly deadLetters: DeadLetters; readonly inbox: PostgresInbox }> {
  const pool = new Pool({ connectionString, connectionTimeoutMillis: 5_000, keepAlive: true });
  pool.on('error', (error) => console.error(`postgres: ${error.message}`));
  await migratePostgres(pool);
  await pool.query(`
    create table if not exists ledger (event_id text not null, amount integer);
    create table if not exists transfers (id text primary key, state text);
  `);
  const scope = 'example-development';
  return {
    store: createPostgresStore(pool, { scope }),
    deadLetters: createPostgresDeadLetters(pool, { scope }),
    inbox: createPostgresInbox(pool, { scope }),
  };
}
