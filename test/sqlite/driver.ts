import { createRequire } from 'node:module';
import type { SqliteDatabase } from 'posthorn/sqlite';
import { driverFolder, untilInstalled } from './install-driver.ts';

await untilInstalled();

/** The parts of a connection of better-sqlite3 that tests use. */
export interface Connection extends SqliteDatabase {
  close(): unknown;
  /** Defines a function of SQL, also in place of one of SQLite. */
  function(name: string, implementation: (...values: never[]) => unknown): unknown;
}

/** The file to import in programs of their own. */
export const driverPath: string = createRequire(driverFolder).resolve('better-sqlite3');

const Database = createRequire(driverFolder)('better-sqlite3');

/** Opens a file with better-sqlite3, which runs on all versions of Node.js. */
export function openDatabase(path: string, options: { readonly readonly?: boolean } = {}): Connection {
  return new Database(path, { timeout: 5_000, ...options });
}
