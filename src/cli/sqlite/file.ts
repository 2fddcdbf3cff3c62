import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isInstance, propertyOf } from '../../foreign-values.ts';
import type { SqliteDatabase } from '../../sqlite/database.ts';
import { explain } from '../../sqlite/sqlite-errors.ts';
import { CommandError, codeOf, usageError } from '../failure.ts';
import { betterSqliteVersions } from '../manifest.ts';

interface OpenFile extends SqliteDatabase {
  close(): unknown;
}

/** The class of a connection, of `node:sqlite` or of better-sqlite3. */
type OpenClass = new (path: string) => OpenFile;

/** Opens a file of SQLite for as long as `use` takes. A missing file is created only if it may be. */
export async function withSqliteFile(
  path: string,
  { mayCreate }: { readonly mayCreate: boolean },
  use: (database: SqliteDatabase) => Promise<void>,
): Promise<void> {
  checkPath(path, mayCreate);
  const database = open(path, builtInClass() ?? (await loadBetterSqlite()));
  try {
    await use(database);
  } finally {
    database.close();
  }
}

function checkPath(path: string, mayCreate: boolean): void {
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile();
  if (isFile) return;
  const shown = JSON.stringify(path);
  if (isFile === false) throw usageError(`${shown} is not a file`);
  if (!mayCreate) throw usageError(`the file ${shown} does not exist: name the file of the receiver`);
  if (statSync(dirname(resolve(path)), { throwIfNoEntry: false })?.isDirectory()) return;
  throw usageError(`the directory of ${shown} does not exist: create it first`);
}

function open(path: string, Database: OpenClass): OpenFile {
  try {
    return new Database(path);
  } catch (cause) {
    const message = `the file ${JSON.stringify(path)} cannot be opened: ${explain(cause).message}`;
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
  try {
    const Database = propertyOf(await import(BETTER_SQLITE), 'default');
    if (isClass(Database)) return Database;
    throw new CommandError('package_missing', `${BETTER_SQLITE} is not what it should be: install it again`);
  } catch (cause) {
    if (isInstance(cause, CommandError) || codeOf(cause) !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new CommandError(
      'package_missing',
      'this needs Node.js 22.13 or later, or the package better-sqlite3, which is not installed: ' +
        `npm install "better-sqlite3@${betterSqliteVersions}"`,
      { cause },
    );
  }
}

function isClass(value: unknown): value is OpenClass {
  return typeof value === 'function';
}
