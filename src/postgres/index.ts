export type { PostgresClient, PostgresPool, PostgresResult } from './client.ts';
export { createPostgresDeadLetters, type PostgresDeadLettersOptions } from './dead-letters.ts';
export {
  createPostgresInbox,
  type InboxContext,
  type InboxEvent,
  type OnceOptions,
  type PostgresInbox,
  type PostgresInboxOptions,
} from './inbox.ts';
export type { BeginTransaction } from './inbox-begin.ts';
export { InboxError } from './inbox-error.ts';
export type { RankedKey } from './inbox-latest.ts';
export type { InboxQuery } from './inbox-statements.ts';
export { migratePostgres, type PostgresMigrationOptions } from './migrate.ts';
export { createPostgresStore, type PostgresStoreOptions } from './store.ts';
export type { PostgresRows, PostgresStatement, PostgresTransaction } from './transaction.ts';
