export type { SqliteDatabase, SqliteParameter, SqliteStatement } from './database.ts';
export { createSqliteDeadLetters, type SqliteDeadLettersOptions } from './dead-letters/dead-letters.ts';
export { migrateSqlite } from './migrate.ts';
export { createSqliteStore, type SqliteStoreOptions } from './store/store.ts';
