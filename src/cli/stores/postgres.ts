import { type Command, Option } from 'commander';
import type { Pool } from 'pg';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import { readSchema } from '../../stores/postgres/client.ts';
import { createPostgresDeadLetters } from '../../stores/postgres/dead-letters/dead-letters.ts';
import { isRefusedConnection } from '../../stores/postgres/errors.ts';
import { createPostgresJournal } from '../../stores/postgres/journal/journal.ts';
import { migratePostgres, migrationScript, readVersion } from '../../stores/postgres/migrate.ts';
import { defineCommand } from '../define-command.ts';
import { codeOf, EXIT_CODES_HELP, usageError } from '../failure.ts';
import { type JsonOption, type SchemaOption, schemaOption } from '../options.ts';
import { addressError, connectionError } from './connection-error.ts';
import { loadPeer } from './load-peer.ts';
import { type MigratedVersions, migrationError, printMigration, printSql } from './migration.ts';
import type { StorePart } from './store-part.ts';

const SOURCES = 'POSTGRES_URL or --postgres';

export const postgresPart: StorePart = {
  addCommand,
  withDeadLetters: (url, options, use) =>
    withPool(url, SOURCES, (pool) => use(createPostgresDeadLetters(pool, options))),
  withJournal: (url, options, use) =>
    withPool(url, SOURCES, (pool) => use(createPostgresJournal(pool, options))),
};

interface MigrateOptions extends SchemaOption, JsonOption {
  readonly url?: string;
  readonly queue?: boolean;
}

const MIGRATE_HELP = `
Creates the tables of posthorn/postgres, or brings them up to date. The role must be
allowed to create tables in the schema; the role of the running service need not be.
With --queue it then does the same for the queue of posthorn/bullmq, whose tables are
those of the installed BullMQ. They are always in the schema bullmq.
${EXIT_CODES_HELP}

Examples:
  $ POSTGRES_URL=postgres://owner@127.0.0.1/billing posthorn postgres migrate
  $ posthorn postgres migrate --url postgres://owner@127.0.0.1/billing --schema webhooks
  $ posthorn postgres migrate --queue`;

const SQL_HELP = `
Prints the migration as a script, for a team that runs migrations by other means. The script may be run again.
The tables of a queue are not in it: "posthorn postgres migrate --queue" makes them.
${EXIT_CODES_HELP}

Examples:
  $ posthorn postgres sql > migrations/posthorn.sql
  $ posthorn postgres sql | psql -v ON_ERROR_STOP=1 "$POSTGRES_URL"`;

function addCommand(program: Command): void {
  const group = program.command('postgres').description('prepare a PostgreSQL for posthorn/postgres');
  defineCommand(group, 'migrate', 'create the tables, or bring them up to date', MIGRATE_HELP, [
    new Option('--url <url>', 'the address of the database (env: POSTGRES_URL, else DATABASE_URL)'),
    schemaOption(),
    new Option('--queue', 'also the tables of a queue in this database; needs bullmq'),
  ]).action(migrate);
  defineCommand(group, 'sql', 'print the SQL of the migration', SQL_HELP, [schemaOption()]).action(
    ({ schema, ...options }: SchemaOption & JsonOption) =>
      printSql(migrationScript(readSchema('posthorn postgres sql', schema)), options),
  );
}

async function migrate({ url, schema, queue = false, ...options }: MigrateOptions): Promise<void> {
  const { POSTGRES_URL, DATABASE_URL } = process.env;
  const quoted = readSchema('posthorn postgres migrate', schema);
  const address = url ?? POSTGRES_URL ?? DATABASE_URL;
  const queueMigration = queue ? await loadQueueMigration() : undefined;
  await withPool(address, '--url, POSTGRES_URL or DATABASE_URL', async (pool) => {
    const print = async (place: string, migrating: Promise<MigratedVersions>): Promise<void> => {
      const versions = await migrating.catch((error: unknown) => {
        throw migrationError(error, ({ cause }) => cause !== undefined);
      });
      printMigration({ schema: place }, `the schema ${place}`, versions, options);
    };
    await print(schema, migrateFrom(pool, quoted, schema));
    if (queueMigration !== undefined) await print('bullmq', queueMigration.migrateQueueTables(pool));
  });
}

/** Only for `--queue`, because it loads BullMQ. */
function loadQueueMigration(): Promise<typeof import('../../queues/bullmq/postgres/migrate.ts')> {
  return loadPeer({ bullmq: () => import('../../queues/bullmq/postgres/migrate.ts') });
}

/** Migrates, and resolves with the versions of the tables before and after it. */
async function migrateFrom(pool: Pool, quoted: string, schema: string): Promise<MigratedVersions> {
  const previous = await readVersion(pool, quoted);
  await migratePostgres(pool, { schema });
  return { previous, version: await readVersion(pool, quoted) };
}

/** Checks the address of a database. Messages do not quote it, because it may hold a password. */
function requirePostgresUrl(url: string | undefined, sources: string): string {
  if (url !== undefined && /^postgres(ql)?:\/\//.test(url)) return url;
  throw usageError(`the address of PostgreSQL is missing or wrong: ${sources} must begin with postgres://`);
}

/** Opens a pool for as long as `use` takes. `sources` are the names of what may hold the address. */
async function withPool(
  url: string | undefined,
  sources: string,
  use: (pool: Pool) => Promise<void>,
): Promise<void> {
  const connectionString = requirePostgresUrl(url, sources);
  const { default: pg } = await loadPeer({ pg: () => import('pg') });
  const pool = new pg.Pool({ connectionString, max: 2, connectionTimeoutMillis: 5_000 });
  // A lost connection shows in the queries that need it.
  pool.on('error', () => {});
  try {
    await connect(pool, sources);
    await use(pool);
  } finally {
    await pool.end();
  }
}

async function connect(pool: Pool, sources: string): Promise<void> {
  try {
    await pool.query('select 1');
  } catch (cause) {
    if (codeOf(cause) === 'ERR_INVALID_URL') throw addressError(sources, cause);
    // pg itself fails if the server asks for a password that the address does not have.
    throw /^SASL: .* password must be /.test(messageOf(cause))
      ? connectionError('PostgreSQL', cause, true, 'the address has no password, and the server asks for one')
      : connectionError('PostgreSQL', cause, isRefusedConnection(cause));
  }
}
