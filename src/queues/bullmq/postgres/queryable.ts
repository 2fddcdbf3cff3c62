import type { PgQueryable, PgQueryResult } from 'bullmq';
import type { PostgresClient, PostgresResult } from '../../../stores/postgres/client.ts';

/** A client in the form that BullMQ takes. */
export function queryableOf(client: PostgresClient): PgQueryable {
  return {
    query: async (text, values) =>
      queryResultOf(await client.query(text, values === undefined ? undefined : [...values])),
  };
}

/** A result in the form that BullMQ takes. Several statements, of a migration, have several results. */
export function queryResultOf(result: PostgresResult | readonly PostgresResult[]): PgQueryResult {
  const last = [result].flat().at(-1);
  return { rows: [...(last?.rows ?? [])], rowCount: last?.rowCount ?? null };
}
