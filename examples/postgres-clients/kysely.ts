// An inbox whose handlers write in transactions of Kysely 0.28.
//
// docs/postgres.md says what `begin` must do. A receiver registers the handler by
// `receiver.on('transfer.succeeded', book)`.

import { CompiledQuery, Kysely, PostgresDialect, type Transaction } from 'kysely';
import { Pool } from 'pg';
import { type BeginTransaction, createPostgresInbox } from 'posthorn/postgres';

interface Database {
  ledger: { event_id: string; amount: number | null };
}

export const pool = new Pool({ connectionString: process.env.POSTGRES_URL });
export const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });

export const begin: BeginTransaction<Transaction<Database>> = (work) =>
  db
    .transaction()
    .execute((tx) => work(tx, (text, values) => tx.executeQuery(CompiledQuery.raw(text, values))));

const inbox = createPostgresInbox(pool, { scope: 'billing-production', begin });
export const book = inbox.once('book', async (event, { transaction }) => {
  await transaction.insertInto('ledger').values({ event_id: event.id, amount: null }).execute();
});
