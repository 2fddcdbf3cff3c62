// An inbox whose handlers write in transactions of TypeORM 1.1. Give the pool of TypeORM as many connections
// as `pool` has: by these the inbox knows how many handlers can run at once.
//
// docs/postgres.md says what `begin` must do. A receiver registers the handler by
// `receiver.on('transfer.succeeded', book)`.

import { Pool } from 'pg';
import { type BeginTransaction, createPostgresInbox } from 'posthorn/postgres';
import { DataSource, type EntityManager } from 'typeorm';

export const pool = new Pool({ connectionString: process.env.POSTGRES_URL });
export const db = new DataSource({ type: 'postgres', url: process.env.POSTGRES_URL });
await db.initialize();

export const begin: BeginTransaction<EntityManager> = (work) =>
  db.transaction((tx) => work(tx, (text, values) => tx.query(text, values)));

const inbox = createPostgresInbox(pool, { scope: 'billing-production', begin });
export const book = inbox.once('book', async (event, { transaction }) => {
  await transaction.query('insert into ledger (event_id) values ($1)', [event.id]);
});
