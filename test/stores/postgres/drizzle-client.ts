import { type SQL, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import type { Client } from './inbox-clients.ts';

type Database = ReturnType<typeof drizzle>;
export type Transaction = Parameters<Parameters<Database['transaction']>[0]>[0];

/** As examples/postgres-clients/drizzle.ts has it. */
function toSql(text: string, values: unknown[]): SQL {
  const [first = '', ...others] = text.split(/\$\d+/);
  return others.reduce(
    (all, part, index) => all.append(sql`${values[index]}${sql.raw(part)}`),
    sql.raw(first),
  );
}

/** A client for `begin`, as examples/postgres-clients/drizzle.ts makes it. */
export function clientOf(pool: Pool): Client<Transaction> {
  const db = drizzle({ client: pool });
  return {
    begin: (work) => db.transaction((tx) => work(tx, (text, values) => tx.execute(toSql(text, values)))),
    run: (tx, statement) => tx.execute(sql.raw(statement)),
  };
}
