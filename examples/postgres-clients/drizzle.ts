// An inbox whose handlers write in transactions of Drizzle 0.45.
//
// docs/postgres.md says what `begin` must do. A receiver registers the handler by
// `receiver.on('transfer.succeeded', book)`.

import { type SQL, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { Pool } from 'pg';
import { type BeginTransaction, createPostgresInbox } from 'posthorn/postgres';

export const pool = new Pool({ connectionString: process.env.POSTGRES_URL });
export const db = drizzle({ client: pool });
type Transaction = Parameters<Parameters<typeof db.transaction>[0]>[0];

function toSql(text: string, values: unknown[]): SQL {
  const [first = '', ...others] = text.split(/\$\d+/);
  return others.reduce(
    (all, part, index) => all.append(sql`${values[index]}${sql.raw(part)}`),
    sql.raw(first),
  );
}

export const begin: BeginTransaction<Transaction> = (work) =>
  db.transaction((tx) => work(tx, (text, values) => tx.execute(toSql(text, values))));

const inbox = createPostgresInbox(pool, { scope: 'billing-production', begin });
export const book = inbox.once('book', async (event, { transaction }) => {
  await transaction.execute(sql`insert into ledger (event_id) values (${event.id})`);
});
