import {
  assertSchemaCompatibility,
  LATEST_SCHEMA_VERSION,
  SchemaMigrationRequiredError,
  SchemaVersionMismatchError,
  UnsupportedPostgresVersionError,
} from 'bullmq';
import { ConfigurationError } from '../../../receiver/errors.ts';
import { messageOf } from '../../../receiver/values/foreign-values.ts';
import { columnOf, type PostgresClient } from '../../../stores/postgres/client.ts';
import type { PostgresConnection } from '../../../stores/postgres/connection.ts';
import { isRefusal } from '../../../stores/postgres/errors.ts';
import { queryableOf } from './queryable.ts';

/** The schema that BullMQ expects of a pool. */
export const QUEUE_SCHEMA = 'bullmq';

const REMEDY =
  'if this is the right database, run migrateBullQueue(pool) or "npx posthorn postgres migrate --queue" with ' +
  'POSTGRES_URL set';

/** BullMQ's errors about the tables and the server. */
const COMPATIBILITY_ERRORS = [
  SchemaMigrationRequiredError,
  SchemaVersionMismatchError,
  UnsupportedPostgresVersionError,
];

/** Returns true if the tables or the server do not fit the installed BullMQ. */
export function isCompatibilityError(error: unknown): boolean {
  return COMPATIBILITY_ERRORS.some((CompatibilityError) => error instanceof CompatibilityError);
}

/**
 * Throws {@link ConfigurationError} if a queue cannot work with this connection: its tables are missing or
 * those of another version, or its statements would not find them.
 */
export async function checkTables(connection: PostgresConnection): Promise<void> {
  await checkVersion(connection.client);
  const found = await connection.query('select current_schema()::text as schema');
  const schema = columnOf(found, 'schema');
  if (schema === QUEUE_SCHEMA) return;
  throw new ConfigurationError(
    `the pool of the queue must find the schema "${QUEUE_SCHEMA}" first, but finds "${schema}" first: make it ` +
      `by new Pool({ …, options: '-c search_path=${QUEUE_SCHEMA}' }), or use a role with this search_path`,
  );
}

async function checkVersion(client: PostgresClient): Promise<void> {
  const version = await readVersion(client);
  // BullMQ accepts older tables, and then calls functions that they lack.
  if (version >= LATEST_SCHEMA_VERSION) return;
  throw new ConfigurationError(
    `the tables of the queue have version ${version}, and this BullMQ needs ${LATEST_SCHEMA_VERSION}: ${REMEDY}`,
  );
}

async function readVersion(client: PostgresClient): Promise<number> {
  try {
    return await assertSchemaCompatibility(queryableOf(client), QUEUE_SCHEMA);
  } catch (cause) {
    if (cause instanceof SchemaMigrationRequiredError) {
      const message = `the tables of the queue are missing in the schema "${QUEUE_SCHEMA}": ${REMEDY}`;
      throw new ConfigurationError(message, { cause });
    }
    if (!isRefusal(cause) && !isCompatibilityError(cause)) throw cause;
    const remedy = 'migrate the right database, and grant the role of the pool its rights (docs/queue.md)';
    throw new ConfigurationError(`the tables of the queue cannot be used: ${messageOf(cause)}: ${remedy}`, {
      cause,
    });
  }
}
