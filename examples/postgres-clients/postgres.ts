// An inbox whose handlers write in transactions of postgres.js 3.4. Give postgres.js as many connections as
// `pool` has: by these the inbox knows how many handlers can run at once.
//
// docs/postgres.md says what `begin` must do. A receiver registers the handler by
// `receiver.on('transfer.succeeded', book)`.

import { Pool } from 'pg';
import postgres, { type TransactionSql } from 'postgres';
import { type BeginTransaction, createPostgresInbox } from 'posthorn/postgres';

export const pool = new Pool({ connectionString: process.env.POSTGRES_URL });
export const db = postgres(process.env.POSTGRES_URL ?? '');

export const begin: BeginTransaction<TransactionSql> = (work) =>
  db.begin((tx) => work(tx, (text, values) => tx.unsafe(text, values)));

const inbox = createPostgresInbox(pool, { scope: 'billing-production', begin });
export const book = inbox.once('book', async (event, { transaction }) => {
  await transaction`insert into ledger (event_id) values (${event.id})`;
});
