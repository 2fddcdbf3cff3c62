import { checkOptions } from '../check-options.ts';
import { ConfigurationError, UnavailableError } from '../errors.ts';
import { messageOf } from '../foreign-values.ts';
import { checkPool, type PostgresPool, readSchema } from './client.ts';
import { migrationSql } from './migrations.ts';
import { isRefusal } from './refusals.ts';
import { withClient } from './with-client.ts';

/** Far longer than tables take, also behind other processes that migrate: it only ends what hangs. */
const LIMIT_MS = 600_000;

/** Options of {@link migratePostgres}. */
export interface PostgresMigrationOptions {
  /** The schema of the tables; `posthorn` by default. It is created if it is not there. */
  readonly schema?: string;
}

/**
 * Creates the tables of posthorn, or brings them up to date. What is up to date stays as it is, so every
 * process may call it when it starts: several at once wait for each other. Tables of a later version of
 * posthorn are left alone. The role of the pool must be allowed to create tables in the schema; `posthorn
 * postgres sql` prints the same for a team that runs its migrations by other means.
 *
 * @throws ConfigurationError for a wrong argument, and if PostgreSQL refuses the migration.
 * @throws UnavailableError (`store_unavailable`) if PostgreSQL cannot be reached.
 *
 * @example
 * ```ts
 * const pool = new Pool({ connectionString: process.env.POSTGRES_URL });
 * await migratePostgres(pool);
 * ```
 */
export async function migratePostgres(
  pool: PostgresPool,
  options: PostgresMigrationOptions = {},
): Promise<void> {
  checkPool('migratePostgres', pool);
  checkOptions(options, ['schema'], 'migratePostgres');
  const schema = readSchema('migratePostgres', options.schema);
  try {
    await withClient(pool, performance.now() + LIMIT_MS, (client) => client.query(migrationSql(schema)));
  } catch (cause) {
    throw failure(schema, cause);
  }
}

function failure(schema: string, cause: unknown): Error {
  const message = `the tables of posthorn in the schema ${schema} could not be migrated: ${messageOf(cause)}`;
  return isRefusal(cause)
    ? new ConfigurationError(message, { cause })
    : new UnavailableError('store_unavailable', message, { cause });
}
