import {
  assertSchemaCompatibility,
  type PgQueryable,
  runMigrations,
  SchemaMigrationRequiredError,
} from 'bullmq';
import { ConfigurationError, UnavailableError } from '../../../receiver/errors.ts';
import { performance } from '../../../receiver/timing/process-clock.ts';
import { messageOf } from '../../../receiver/values/foreign-values.ts';
import { checkPool, type PostgresClient, type PostgresPool } from '../../../stores/postgres/client.ts';
import { withClient } from '../../../stores/postgres/connection.ts';
import { isRefusal, isRefusedConnection } from '../../../stores/postgres/errors.ts';
import { isCompatibilityError, QUEUE_SCHEMA } from './check-tables.ts';
import { queryableOf } from './queryable.ts';

/** Far longer than a migration takes, even behind those of other processes: it only ends one that hangs. */
const LIMIT_MS = 600_000;

/**
 * Unlike BullMQ's own statement, this one needs the right to create schemas only if the schema is missing.
 */
const CREATE_SCHEMA = `do $posthorn$ begin
if to_regnamespace('${QUEUE_SCHEMA}') is null then
create schema ${QUEUE_SCHEMA};
end if;
end $posthorn$`;

/**
 * Creates the tables of queues in the schema `bullmq`, or brings them up to date, by the migrations of the
 * installed BullMQ. All queues of a database share them. What is up to date stays as it is, and several
 * processes at once wait for each other. The role of the pool must be allowed to create the schema, or must
 * own it.
 *
 * @throws ConfigurationError for a wrong argument, and if PostgreSQL refuses the migration or the connection.
 * @throws UnavailableError (`queue_unavailable`) if PostgreSQL cannot be reached.
 *
 * @example
 * ```ts
 * import { Pool } from 'pg';
 * import { migrateBullQueue } from 'posthorn/bullmq';
 *
 * await migrateBullQueue(new Pool({ connectionString: process.env.POSTGRES_URL }));
 * ```
 */
export async function migrateBullQueue(pool: PostgresPool): Promise<void> {
  checkPool('migrateBullQueue', pool);
  await migrateQueueTables(pool);
}

/**
 * Does the same as {@link migrateBullQueue}. Resolves with the versions of the tables before and after; 0 if
 * there were none.
 */
export async function migrateQueueTables(pool: PostgresPool): Promise<{
  readonly previous: number;
  readonly version: number;
}> {
  try {
    return await withClient(pool, performance.now() + LIMIT_MS, async ({ client }) => {
      const previous = await readVersion(client);
      return { previous, version: await runMigrations(withOwnCreateSchema(client), QUEUE_SCHEMA) };
    });
  } catch (cause) {
    const message = `the tables of the queue (schema "${QUEUE_SCHEMA}") could not be migrated: ${messageOf(cause)}`;
    const isAnswer = isRefusal(cause) || isRefusedConnection(cause) || isCompatibilityError(cause);
    if (isAnswer) throw new ConfigurationError(message, { cause });
    throw new UnavailableError('queue_unavailable', message, { cause });
  }
}

async function readVersion(client: PostgresClient): Promise<number> {
  try {
    return await assertSchemaCompatibility(queryableOf(client), QUEUE_SCHEMA);
  } catch (error) {
    if (error instanceof SchemaMigrationRequiredError) return 0;
    throw error;
  }
}

function withOwnCreateSchema(client: PostgresClient): PgQueryable {
  const { query } = queryableOf(client);
  return {
    query: (text, values) =>
      query(text.startsWith('CREATE SCHEMA IF NOT EXISTS ') ? CREATE_SCHEMA : text, values),
  };
}
