import { CompiledQuery, Kysely, PostgresDialect, type Transaction } from 'kysely';
import type { Pool } from 'pg';
import type { Client } from './inbox-clients.ts';

export interface Database {
  readonly ledger: { readonly event_id: string; readonly amount: number };
}

/** A client for `begin`, as examples/postgres-clients/kysely.ts makes it. */
export function clientOf(pool: Pool): Client<Transaction<Database>> {
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  return {
    begin: (work) =>
      db
        .transaction()
        .execute((tx) => work(tx, (text, values) => tx.executeQuery(CompiledQuery.raw(text, values)))),
    run: (tx, statement) => tx.executeQuery(CompiledQuery.raw(statement)),
  };
}
