import { createRequire } from 'node:module';

/**
 * Opens a file by `node:sqlite`, or by better-sqlite3 where Node.js lacks it, which is that of the tests.
 * @param {string} path
 * @returns {import('../../dist/src/sqlite/index.js').SqliteDatabase & { close(): unknown }}
 */
export function openDatabase(path) {
  const folder = new URL('../../test/sqlite/driver/', import.meta.url);
  const Database = createRequire(folder)('better-sqlite3');
  return new Database(path);
}
