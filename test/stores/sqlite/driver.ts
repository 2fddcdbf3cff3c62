import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Connection, type Driver, type OpenDatabase } from './connection.ts';

const require = createRequire(import.meta.url);

const Database: Driver = require('libsql');

/** The file to import in programs of their own. */
export const driverPath: string = require.resolve('libsql');

/** A package with the name of better-sqlite3, for programs that import that. */
export const standInPath: string = fileURLToPath(new URL('better-sqlite3', import.meta.url));

/**
 * Opens a file with libsql, whose npm packages have binaries: nothing is compiled, and Node.js 20 lacks
 * `node:sqlite`. test/stores/sqlite/better-sqlite3.matrix.test.ts has the same tests with better-sqlite3.
 */
export const openDatabase: OpenDatabase = (path, { readonly: isReadonly = false } = {}) => {
  const connection = new Connection(new Database(path, { timeout: 5_000 }));
  // libsql takes the option `readonly`, and writes all the same.
  if (isReadonly) connection.exec('pragma query_only = on');
  return connection;
};
