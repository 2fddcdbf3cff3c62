// An inbox whose handlers write in transactions of Knex 3.3, whose placeholder is `?`. Give the pool of Knex
// as many connections as `pool` has: by these the inbox knows how many handlers can run at once.
//
// docs/postgres.md says what `begin` must do. A receiver registers the handler by
// `receiver.on('transfer.succeeded', book)`.

import knex, { type Knex } from 'knex';
import { Pool } from 'pg';
import { type BeginTransaction, createPostgresInbox } from 'posthorn/postgres';

export const pool = new Pool({ connectionString: process.env.POSTGRES_URL });
export const db = knex({ client: 'pg', connection: process.env.POSTGRES_URL });

export const begin: BeginTransaction<Knex.Transaction> = (work) =>
  db.transaction((tx) => work(tx, (text, values) => tx.raw(text.replace(/\$\d+/g, '?'), values)));

const inbox = createPostgresInbox(pool, { scope: 'billing-production', begin });
export const book = inbox.once('book', async (event, { transaction }) => {
  await transaction('ledger').insert({ event_id: event.id });
});
