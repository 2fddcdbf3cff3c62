// The store, the dead letters, the inbox and the journal of all-ways-program.mjs, in its database. `insert`
// writes a row in the transaction of the inbox, `insertAlone` outside of it.

import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import {
  createPostgresDeadLetters,
  createPostgresInbox,
  createPostgresJournal,
  createPostgresStore,
} from 'posthorn/postgres';
import {
  createSqliteDeadLetters,
  createSqliteInbox,
  createSqliteJournal,
  createSqliteStore,
} from 'posthorn/sqlite';

/** The longest time for which the handler of SQLite may block its process, which has leases to renew. */
const LOCK_WAIT_MS = 200;

export function openPostgres(connectionString, scope) {
  const pool = new Pool({ connectionString, connectionTimeoutMillis: 2_000 });
  // Its server is away now and then.
  pool.on('error', () => {});
  const insert = 'insert into handled values ($1, $2, $3)';
  return {
    store: createPostgresStore(pool, { scope, commandTimeoutMs: 1_000 }),
    deadLetters: createPostgresDeadLetters(pool, { scope }),
    inbox: createPostgresInbox(pool, { scope }),
    journal: createPostgresJournal(pool, { scope, commandTimeoutMs: 1_000 }),
    insert: ({ transaction }, ...values) => transaction.query(insert, values),
    insertAlone: (...values) => pool.query(insert, values),
    pause: () => sleep(Math.random() * 20),
  };
}

export async function openSqlite(driver, file, scope) {
  const Database = createRequire(import.meta.url)(driver);
  const database = new Database(file, { timeout: 5_000 });
  const own = new Database(file, { timeout: LOCK_WAIT_MS });
  const insert = 'insert into handled values (?, ?, ?)';
  return {
    store: createSqliteStore(database, { scope, commandTimeoutMs: 1_000 }),
    deadLetters: createSqliteDeadLetters(database, { scope }),
    inbox: createSqliteInbox(database, { scope }),
    journal: createSqliteJournal(database, { scope, commandTimeoutMs: 1_000 }),
    insert: (context, ...values) => context.database.prepare(insert).run(...values),
    insertAlone: (...values) => {
      // An insert that finds the file locked would leave a statement open in libsql, and so keep the next
      // lock.
      own.exec('begin immediate');
      own.prepare(insert).run(...values);
      own.exec('commit');
    },
  };
}
