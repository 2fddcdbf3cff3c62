import { type SQL, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { beforeAll, describe } from 'vitest';
import { usePostgres } from './fixture.ts';
import { type Client, testClient } from './inbox-clients.ts';
import { createLedger } from './ledger.ts';

type Database = ReturnType<typeof drizzle>;
type Transaction = Parameters<Parameters<Database['transaction']>[0]>[0];

/** As docs/postgres.md has it. */
function toSql(text: string, values: unknown[]): SQL {
  const [first = '', ...others] = text.split(/\$\d+/);
  return others.reduce(
    (all, part, index) => all.append(sql`${values[index]}${sql.raw(part)}`),
    sql.raw(first),
  );
}

function clientOf(pool: Pool): Client<Transaction> {
  const db = drizzle({ client: pool });
  return {
    begin: (work) => db.transaction((tx) => work(tx, (text, values) => tx.execute(toSql(text, values)))),
    run: (tx, statement) => tx.execute(sql.raw(statement)),
  };
}

describe('an inbox in transactions of Drizzle', () => {
  const fixture = usePostgres();
  let pool: Pool;
  beforeAll(async () => {
    pool = fixture.connect();
    await createLedger(pool);
  });
  testClient(
    {
      get pool() {
        return pool;
      },
    },
    clientOf,
  );
});
