import { createRequire } from 'node:module';

/**
 * Opens a file by better-sqlite3, which `npm ci` in test/stores/sqlite/driver installs; `npm run test:matrix` does so.
 * @param {string} path
 * @returns {import('../../dist/src/stores/sqlite/index.js').SqliteDatabase & { close(): unknown }}
 */
export function openDatabase(path) {
  const folder = new URL('../../test/stores/sqlite/driver/', import.meta.url);
  const Database = createRequire(folder)('better-sqlite3');
  return new Database(path);
}
