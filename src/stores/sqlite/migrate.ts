import { ConfigurationError, UnavailableError } from '../../receiver/errors.ts';
import { isInstance } from '../../receiver/values/foreign-values.ts';
import { checkDatabase, type SqliteDatabase } from './client.ts';
import { checkNotNewer, SqliteConnection } from './connection.ts';
import { explain } from './errors.ts';
import { networkFileSystemOf } from './network-file-system.ts';
import { retryWhileBusy } from './retry-while-busy.ts';
import { additions, migrations, NOW, READ_VERSION } from './tables.ts';

/** Longer than other processes need that migrate, too. */
const LIMIT_MS = 10_000;

/** The versions of the tables before a migration and after it; 0 if there were none. */
export interface MigratedVersions {
  readonly previous: number;
  readonly version: number;
  /** The tables that a file of this version did not have yet. */
  readonly added?: readonly string[];
}

/**
 * Creates the tables of posthorn in a file of SQLite, or brings them up to date, and turns on WAL mode, in
 * which readers and a writer do not wait for each other. The file keeps that mode. What is up to date stays
 * as it is, so every process may call it when it starts. Other tables in the file are left alone.
 *
 * @throws ConfigurationError for a wrong argument; if the file lies on a network file system, is read-only or
 * damaged, or was migrated by a later posthorn.
 * @throws UnavailableError (`store_unavailable`) if another process has the file locked for ten seconds, or
 * the disk fails.
 *
 * @example
 * ```ts
 * import { DatabaseSync } from 'node:sqlite';
 * import { migrateSqlite } from 'posthorn/sqlite';
 *
 * const database = new DatabaseSync('/var/lib/billing/events.db');
 * await migrateSqlite(database);
 * ```
 */
export async function migrateSqlite(database: SqliteDatabase): Promise<void> {
  checkDatabase('migrateSqlite', database);
  await migrateFile(database);
}

/** The same, for a connection; resolves with the versions. */
export async function migrateFile(database: SqliteDatabase): Promise<MigratedVersions> {
  const connection = SqliteConnection.of(database);
  try {
    checkFileSystem(connection);
    await retryWhileBusy(LIMIT_MS, () => connection.withoutWaiting(() => turnOnWal(connection)));
    return await retryWhileBusy(LIMIT_MS, () =>
      connection.withoutWaiting(() => {
        // Without a transaction, so that a process that starts need not wait for those that write.
        const version = readVersion(connection);
        if (version === migrations.length && missingIn(connection).length === 0)
          return { previous: version, version };
        return connection.inTransaction(() => migrateTables(connection));
      }),
    );
  } catch (error) {
    const cause = explain(error);
    const message = `the tables of posthorn in SQLite could not be migrated: ${cause.message}`;
    throw isInstance(cause, ConfigurationError)
      ? new ConfigurationError(message, { cause })
      : new UnavailableError('store_unavailable', message, { cause });
  }
}

function checkFileSystem({ path }: SqliteConnection): void {
  const kind = path === undefined ? undefined : networkFileSystemOf(path);
  if (kind === undefined) return;
  throw new ConfigurationError(
    `the file ${path} lies on a network file system (${kind}), where the processes that use it cannot share ` +
      'memory: put it on a local disk, or use a store on a server, such as createPostgresStore',
  );
}

/** A database in memory stays in its own mode. */
function turnOnWal(connection: SqliteConnection): void {
  const [mode] = connection.first({ sql: 'pragma journal_mode = wal', values: [] }) ?? [];
  if (mode === 'wal' || mode === 'memory') return;
  throw new ConfigurationError(
    `the file cannot be put into WAL mode and stays in the mode ${JSON.stringify(mode)}: ` +
      'put it on a local disk whose file system lets processes share memory',
  );
}

/** The version of the tables; 0 if there are none. */
function readVersion(connection: SqliteConnection): number {
  if (!hasTable(connection, 'posthorn_migrations')) return 0;
  const [found] = connection.first(READ_VERSION) ?? [];
  return Number(found ?? 0);
}

function hasTable(connection: SqliteConnection, table: string): boolean {
  const found = connection.first({ sql: 'select name from sqlite_master where name = ?', values: [table] });
  return found !== undefined;
}

function missingIn(connection: SqliteConnection): typeof additions {
  return additions.filter(({ table }) => !hasTable(connection, table));
}

function migrateTables(connection: SqliteConnection): MigratedVersions {
  connection.exec(`create table if not exists posthorn_migrations (
  version integer primary key,
  applied_at integer not null
) strict`);
  const previous = readVersion(connection);
  checkNotNewer(previous);
  for (const [index, statements] of migrations.entries()) {
    if (index < previous) continue;
    connection.exec(`${statements}
insert into posthorn_migrations (version, applied_at) values (${index + 1}, ${NOW});`);
  }
  const missing = missingIn(connection);
  for (const { statements } of missing) connection.exec(statements);
  const versions = { previous, version: migrations.length };
  // None are missing if another process was faster.
  const hasAdded = previous === versions.version && missing.length > 0;
  return hasAdded ? { ...versions, added: missing.map(({ table }) => table) } : versions;
}
