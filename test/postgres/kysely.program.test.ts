import { CompiledQuery, Kysely, PostgresDialect, type Transaction } from 'kysely';
import type { Pool } from 'pg';
import { beforeAll, describe } from 'vitest';
import { usePostgres } from './fixture.ts';
import { type Client, testClient } from './inbox-clients.ts';
import { createLedger } from './ledger.ts';

interface Database {
  readonly ledger: { readonly event_id: string; readonly amount: number };
}

function clientOf(pool: Pool): Client<Transaction<Database>> {
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  return {
    begin: (work) =>
      db
        .transaction()
        .execute((tx) => work(tx, (text, values) => tx.executeQuery(CompiledQuery.raw(text, values)))),
    run: (tx, statement) => tx.executeQuery(CompiledQuery.raw(statement)),
  };
}

describe('an inbox in transactions of Kysely', () => {
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
