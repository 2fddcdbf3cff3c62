// The store, the dead letters and the inbox of accept-storm-program.mjs, in its database.

import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import { createPostgresDeadLetters, createPostgresInbox, createPostgresStore } from 'posthorn/postgres';
import { createSqliteDeadLetters, createSqliteInbox, createSqliteStore } from 'posthorn/sqlite';

export function openPostgres(connectionString, scope) {
  const pool = new Pool({ connectionString, connectionTimeoutMillis: 2_000 });
  // Its server is away now and then.
  pool.on('error', () => {});
  return {
    store: createPostgresStore(pool, { scope, commandTimeoutMs: 1_000 }),
    deadLetters: createPostgresDeadLetters(pool, { scope }),
    inbox: createPostgresInbox(pool, { scope }),
    insert: ({ transaction }, ...values) => transaction.query('insert into handled values ($1, $2)', values),
    pause: () => sleep(Math.random() * 20),
  };
}

export async function openSqlite(driver, file, scope) {
  const Database = createRequire(import.meta.url)(driver);
  const database = new Database(file, { timeout: 5_000 });
  return {
    store: createSqliteStore(database, { scope, commandTimeoutMs: 1_000 }),
    deadLetters: createSqliteDeadLetters(database, { scope }),
    inbox: createSqliteInbox(database, { scope }),
    insert: (context, ...values) =>
      context.database.prepare('insert into handled values (?, ?)').run(...values),
  };
}
