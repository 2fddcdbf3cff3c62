import {
  assertSchemaCompatibility,
  SchemaMigrationRequiredError,
  SchemaVersionMismatchError,
  UnsupportedPostgresVersionError,
} from 'bullmq';
import { ConfigurationError } from '../../../receiver/errors.ts';
import { messageOf } from '../../../receiver/values/foreign-values.ts';
import { columnOf, type PostgresClient } from '../../../stores/postgres/client.ts';
import { isRefusal } from '../../../stores/postgres/errors.ts';
import { queryableOf } from './queryable.ts';

/** The schema that BullMQ expects of a pool. */
export const QUEUE_SCHEMA = 'bullmq';

/** BullMQ's errors about the tables and the server. */
const FINDINGS = [SchemaMigrationRequiredError, SchemaVersionMismatchError, UnsupportedPostgresVersionError];

/** Returns true if the tables or the server do not fit the installed BullMQ. */
export function isFinding(error: unknown): boolean {
  return FINDINGS.some((Finding) => error instanceof Finding);
}

/**
 * Throws {@link ConfigurationError} if a queue cannot work with this connection: its tables are missing or
 * those of another version, or its statements would not find them.
 */
export async function checkTables(client: PostgresClient): Promise<void> {
  try {
    await assertSchemaCompatibility(queryableOf(client), QUEUE_SCHEMA);
  } catch (cause) {
    if (!isRefusal(cause) && !isFinding(cause)) throw cause;
    throw new ConfigurationError(
      `the tables of the queue are missing in the schema "${QUEUE_SCHEMA}", or cannot be used: if this is the ` +
        'right database, run migrateBullQueue(pool) or "npx posthorn postgres migrate --queue" with ' +
        `POSTGRES_URL set, and grant the role of the pool its rights (docs/queue.md): ${messageOf(cause)}`,
      { cause },
    );
  }
  const schema = columnOf(await client.query('select current_schema() as schema'), 'schema');
  if (schema === QUEUE_SCHEMA) return;
  throw new ConfigurationError(
    `the pool of the queue must find the schema "${QUEUE_SCHEMA}" first, but finds "${schema}" first: make it ` +
      `by new Pool({ …, options: '-c search_path=${QUEUE_SCHEMA}' }), or use a role with this search_path`,
  );
}
