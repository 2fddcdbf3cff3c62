export type { PostgresClient, PostgresPool, PostgresResult } from './client.ts';
export { migratePostgres, type PostgresMigrationOptions } from './migrate.ts';
