import type { PgQueryable, PgQueryResult } from 'bullmq';
import type { PostgresClient, PostgresQuery, PostgresResult } from '../../../stores/postgres/client.ts';

/**
 * The parsers of `pg` for the types that BullMQ does not take as texts, by the numbers of the types in
 * PostgreSQL.
 */
const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map([
  // boolean
  [16, (text: string): boolean => text === 't'],
  // smallint, integer
  ...[21, 23].map((oid) => [oid, Number] as const),
  // json, jsonb
  ...[114, 3802].map((oid) => [oid, JSON.parse] as const),
]);

const TYPES: PostgresQuery['types'] = { getTypeParser: (oid) => PARSERS.get(oid) ?? String };

/** Runs a statement of BullMQ. BullMQ expects the default parsers of `pg`, and the pool may have others. */
export function runQuery(
  client: Pick<PostgresClient, 'query'>,
  text: string,
  values: readonly unknown[] | undefined,
): Promise<PostgresResult> {
  return client.query({ text, values: values && [...values], types: TYPES });
}

/** Returns a client in the form that BullMQ takes. */
export function queryableOf(client: Pick<PostgresClient, 'query'>): PgQueryable {
  return { query: async (text, values) => queryResultOf(await runQuery(client, text, values)) };
}

/** Returns a result in the form that BullMQ takes: the last one, if a migration ran several statements. */
export function queryResultOf(result: PostgresResult | readonly PostgresResult[]): PgQueryResult {
  const last = [result].flat().at(-1);
  return { rows: [...(last?.rows ?? [])], rowCount: last?.rowCount ?? null };
}
