import type { PgQueryable, PgQueryResult } from 'bullmq';
import type { PostgresClient, PostgresQuery, PostgresResult } from '../../../stores/postgres/client.ts';

/** The types that BullMQ does not take as texts, by their numbers in PostgreSQL, with the parsers of `pg`. */
const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map([
  // boolean
  [16, (text: string): boolean => text === 't'],
  // smallint, integer
  ...[21, 23].map((oid) => [oid, Number] as const),
  // json, jsonb
  ...[114, 3802].map((oid) => [oid, JSON.parse] as const),
]);

const TYPES: PostgresQuery['types'] = { getTypeParser: (oid) => PARSERS.get(oid) ?? String };

/** Runs a statement of BullMQ, which expects the values that `pg` gives unless the pool has other parsers. */
export function runQuery(
  client: Pick<PostgresClient, 'query'>,
  text: string,
  values: readonly unknown[] | undefined,
): Promise<PostgresResult> {
  return client.query({ text, values: values && [...values], types: TYPES });
}

/** A client in the form that BullMQ takes. */
export function queryableOf(client: Pick<PostgresClient, 'query'>): PgQueryable {
  return { query: async (text, values) => queryResultOf(await runQuery(client, text, values)) };
}

/** A result in the form that BullMQ takes. Several statements, of a migration, have several results. */
export function queryResultOf(result: PostgresResult | readonly PostgresResult[]): PgQueryResult {
  const last = [result].flat().at(-1);
  return { rows: [...(last?.rows ?? [])], rowCount: last?.rowCount ?? null };
}
