export type { SkipReason } from '../../receiver/handling/handlers/named-handler.ts';
export { InboxError } from '../kit/inbox/inbox-error.ts';
export type { RankedKey } from '../kit/inbox/latest.ts';
export type { InboxEvent, OnceOptions } from '../kit/inbox/once.ts';
export type { PostgresClient, PostgresPool, PostgresQuery, PostgresResult } from './client.ts';
export { createPostgresDeadLetters, type PostgresDeadLettersOptions } from './dead-letters/dead-letters.ts';
export type { BeginTransaction, InboxQuery } from './inbox/commit-by-other-client.ts';
export type { PostgresRows, PostgresStatement, PostgresTransaction } from './inbox/handler-transaction.ts';
export {
  createPostgresInbox,
  type InboxContext,
  type PostgresInbox,
  type PostgresInboxOptions,
} from './inbox/inbox.ts';
export { createPostgresJournal, type PostgresJournalOptions } from './journal/journal.ts';
export { migratePostgres, type PostgresMigrationOptions } from './migrate.ts';
export { createPostgresStore, type PostgresStoreOptions } from './store/store.ts';
