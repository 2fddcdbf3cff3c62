import { closeSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { propertyOf } from '../../receiver/values/foreign-values.ts';
import type { SqliteDatabase } from '../../stores/sqlite/client.ts';
import { SqliteConnection } from '../../stores/sqlite/connection.ts';
import { createSqliteDeadLetters } from '../../stores/sqlite/dead-letters/dead-letters.ts';
import { explain } from '../../stores/sqlite/errors.ts';
import { createSqliteJournal } from '../../stores/sqlite/journal/journal.ts';
import { migrateFile } from '../../stores/sqlite/migrate.ts';
import { defineCommand } from '../define-command.ts';
import { CommandError, EXIT_CODES_HELP, usageError } from '../failure.ts';
import type { JsonOption } from '../options.ts';
import { loadPeer } from './load-peer.ts';
import { migrationError, printMigration } from './migration.ts';
import type { StorePart } from './store-part.ts';

const EXISTING = { mayCreate: false } as const;

export const sqlitePart: StorePart = {
  addCommand,
  withDeadLetters: (file, { scope }, use) =>
    withSqliteFile(file, EXISTING, (database) => use(createSqliteDeadLetters(database, { scope }))),
  withJournal: (file, { scope }, use) =>
    withSqliteFile(file, EXISTING, (database) => use(createSqliteJournal(database, { scope }))),
};

const MIGRATE_HELP = `
Creates the tables of posthorn/sqlite in a file, or brings them up to date, and turns on its WAL mode. A file
that does not exist is created, and only this user may read it: run this as the user of the receiver. Stop no
process for it: those that use the file go on.
${EXIT_CODES_HELP}

Examples:
  $ posthorn sqlite migrate /var/lib/billing/events.db`;

function addCommand(program: Command): void {
  const group = program.command('sqlite').description('prepare a file of SQLite for posthorn/sqlite');
  defineCommand(group, 'migrate', 'create the tables, or bring them up to date', MIGRATE_HELP)
    .argument('<file>', 'the path of the file, on a local disk')
    .action(migrate);
}

async function migrate(file: string, options: JsonOption): Promise<void> {
  await withSqliteFile(file, { mayCreate: true }, async (database) => {
    const versions = await migrateFile(database).catch((error: unknown) => {
      throw migrationError(error);
    });
    printMigration({ file }, file, versions, options);
  });
}

interface OpenFile extends SqliteDatabase {
  close(): unknown;
}

/** The class of a connection, of `node:sqlite` or of better-sqlite3. */
type OpenClass = new (path: string) => OpenFile;

/** Opens a file of SQLite for as long as `use` takes. A missing file is created only if it may be. */
async function withSqliteFile(
  file: string,
  { mayCreate }: { readonly mayCreate: boolean },
  use: (database: SqliteDatabase) => Promise<void>,
): Promise<void> {
  checkName(file);
  // An absolute path has no special meaning for any client.
  const path = resolve(file);
  const isMissing = checkPath(file, path, mayCreate);
  const Database = builtInClass() ?? (await loadBetterSqlite());
  if (isMissing) createPrivately(path);
  const database = open(file, () => new Database(path));
  try {
    open(file, () => readHeader(database));
    await use(database);
  } finally {
    database.close();
  }
}

function checkName(file: string): void {
  if (file !== ':memory:' && !file.startsWith('file:')) return;
  throw usageError(
    `${JSON.stringify(file)} does not name a file: give the path of the file that the receiver opens, such as events.db`,
  );
}

/** Returns true if the file is missing, and may be created. */
function checkPath(file: string, path: string, mayCreate: boolean): boolean {
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile();
  if (isFile) return false;
  const shown = JSON.stringify(file);
  if (isFile === false) throw usageError(`${shown} is not a file`);
  if (!mayCreate) throw usageError(`the file ${shown} does not exist: name the file of the receiver`);
  if (statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory()) return true;
  throw usageError(`the directory of ${shown} does not exist: create it first`);
}

/** SQLite gives the mode of the file to those beside it. They hold dead letters. */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    // Another command has created it meanwhile, or SQLite says why it cannot be created.
  }
}

/** The beginning of a file shows whether it is a database. Another process may have it locked. */
function readHeader(database: SqliteDatabase): void {
  const connection = SqliteConnection.of(database);
  connection.withoutWaiting(() => connection.first({ sql: 'pragma schema_version', values: [] }));
}

function open<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    const message = `the file ${JSON.stringify(file)} cannot be opened: ${explain(cause).message}`;
    throw new CommandError('failed', message, { cause });
  }
}

/** The class of `node:sqlite`, which Node.js has from 22.13 on, and is about to rename. */
function builtInClass(): OpenClass | undefined {
  const { emitWarning } = process;
  // Node.js warns that the module is experimental, which a user of the command cannot act on.
  process.emitWarning = () => {};
  try {
    const builtIn: unknown = process.getBuiltinModule('node:sqlite');
    return [propertyOf(builtIn, 'Database'), propertyOf(builtIn, 'DatabaseSync')].find(isClass);
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** In a variable, because the package need not be there when this is compiled. */
const BETTER_SQLITE = 'better-sqlite3';

async function loadBetterSqlite(): Promise<OpenClass> {
  const load = (): Promise<unknown> => import(BETTER_SQLITE);
  const loaded = await loadPeer({ [BETTER_SQLITE]: load }, { before: 'Node.js 22.13 or later, or ' });
  const Database = propertyOf(loaded, 'default');
  if (isClass(Database)) return Database;
  throw new CommandError('package_missing', `${BETTER_SQLITE} is not what it should be: install it again`);
}

function isClass(value: unknown): value is OpenClass {
  return typeof value === 'function';
}
