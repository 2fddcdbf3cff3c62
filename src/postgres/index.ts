export type { PostgresClient, PostgresPool, PostgresResult } from './client.ts';
export { createPostgresDeadLetters, type PostgresDeadLettersOptions } from './dead-letters.ts';
export { migratePostgres, type PostgresMigrationOptions } from './migrate.ts';
export { createPostgresStore, type PostgresStoreOptions } from './store.ts';
