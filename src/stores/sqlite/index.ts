export type { SkipReason } from '../../receiver/handling/handlers/named-handler.ts';
export { InboxError } from '../kit/inbox/inbox-error.ts';
export type { RankedKey } from '../kit/inbox/latest.ts';
export type { InboxEvent, OnceOptions } from '../kit/inbox/once.ts';
export type { SqliteDatabase, SqliteParameter, SqliteStatement } from './client.ts';
export { createSqliteDeadLetters, type SqliteDeadLettersOptions } from './dead-letters/dead-letters.ts';
export type { SqliteTransaction } from './inbox/handler-database.ts';
export {
  createSqliteInbox,
  type NotAPromise,
  type SqliteInbox,
  type SqliteInboxContext,
  type SqliteInboxOptions,
} from './inbox/inbox.ts';
export { createSqliteJournal, type SqliteJournalOptions } from './journal/journal.ts';
export { migrateSqlite } from './migrate.ts';
export { createSqliteStore, type SqliteStoreOptions } from './store/store.ts';
