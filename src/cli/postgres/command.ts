import { type Command, Option } from 'commander';
import type { Pool } from 'pg';
import { ConfigurationError } from '../../receiver/errors.ts';
import { isInstance } from '../../receiver/values/foreign-values.ts';
import { readSchema } from '../../stores/postgres/client.ts';
import { migratePostgres, migrationScript, readVersion } from '../../stores/postgres/migrate.ts';
import { CommandError, EXIT_CODES_HELP } from '../failure.ts';
import { type JsonOption, jsonOption } from '../options.ts';
import { createOutput } from '../output.ts';
import { printSql } from '../print-sql.ts';
import { requirePostgresUrl, withPool } from './pg.ts';

interface SchemaOption {
  readonly schema: string;
}

interface MigrateOptions extends SchemaOption, JsonOption {
  readonly url?: string;
}

const MIGRATE_HELP = `
Creates the tables of posthorn/postgres, or brings them up to date. The role must be
allowed to create tables in the schema; the role of the running service need not be.
${EXIT_CODES_HELP}

Examples:
  $ POSTGRES_URL=postgres://owner@127.0.0.1/billing posthorn postgres migrate
  $ posthorn postgres migrate --url postgres://owner@127.0.0.1/billing --schema webhooks`;

const SQL_HELP = `
Prints the migration as a script, for a team that runs migrations by other means. The script may be run again.
${EXIT_CODES_HELP}

Examples:
  $ posthorn postgres sql > migrations/posthorn.sql
  $ posthorn postgres sql | psql -v ON_ERROR_STOP=1 "$POSTGRES_URL"`;

/** `posthorn postgres` */
export function addPostgres(program: Command): void {
  const group = program.command('postgres').description('prepare a PostgreSQL for posthorn/postgres');
  group
    .command('migrate')
    .description('create the tables, or bring them up to date')
    .option('--url <url>', 'the address of the database (env: POSTGRES_URL, else DATABASE_URL)')
    .addOption(schemaOption())
    .addOption(jsonOption())
    .addHelpText('after', MIGRATE_HELP)
    .action(migrate);
  group
    .command('sql')
    .description('print the SQL of the migration')
    .addOption(schemaOption())
    .addOption(jsonOption())
    .addHelpText('after', SQL_HELP)
    .action(({ schema, ...options }: SchemaOption & JsonOption) => {
      printSql(migrationScript(readSchema('posthorn postgres sql', schema)), options);
    });
}

/** The schema of posthorn's tables. */
export function schemaOption(): Option {
  return new Option('--schema <schema>', 'the schema of the tables').default('posthorn');
}

async function migrate({ url, schema, json = false }: MigrateOptions): Promise<void> {
  const { POSTGRES_URL, DATABASE_URL } = process.env;
  const quoted = readSchema('posthorn postgres migrate', schema);
  const address = requirePostgresUrl(
    url ?? POSTGRES_URL ?? DATABASE_URL,
    '--url, POSTGRES_URL or DATABASE_URL',
  );
  await withPool(address, async (pool) => {
    const { previous, version } = await migrateFrom(pool, quoted, schema).catch((error: unknown) => {
      throw wasRefused(error) ? new CommandError('failed', error.message, { cause: error }) : error;
    });
    createOutput({ json }).print({ schema, previous, version }, () => describe(schema, previous, version));
  });
}

/** Migrates, and resolves with the versions of the tables before and after it. */
async function migrateFrom(
  pool: Pool,
  quoted: string,
  schema: string,
): Promise<{ readonly previous: number; readonly version: number }> {
  const previous = await readVersion(pool, quoted);
  await migratePostgres(pool, { schema });
  return { previous, version: await readVersion(pool, quoted) };
}

function describe(schema: string, previous: number, version: number): string {
  if (previous === 0) return `created the tables of version ${version} in the schema ${schema}`;
  return previous === version
    ? `the tables in the schema ${schema} are up to date, at version ${version}: nothing to do`
    : `brought the tables in the schema ${schema} from version ${previous} to version ${version}`;
}

/** Returns true if the usage was right, and PostgreSQL has refused. */
function wasRefused(error: unknown): error is ConfigurationError {
  return isInstance(error, ConfigurationError) && error.cause !== undefined;
}
