import type { NotAGenerator } from '../../../receiver/checks/called-functions.ts';
import { checkOptions, readScope } from '../../../receiver/checks/check-options.ts';
import type { HandlerContext } from '../../../receiver/handling/handlers/route.ts';
import { HandlerNames } from '../../kit/inbox/handler-names.ts';
import { contextWith, type InboxEvent, type OnceOptions, onceHandler } from '../../kit/inbox/once.ts';
import { readAge } from '../../kit/prune-options.ts';
import { checkDatabase, type SqliteDatabase } from '../client.ts';
import { SqliteConnection } from '../connection.ts';
import { hasRecord } from './find-record.ts';
import type { SqliteTransaction } from './handler-database.ts';
import { prune } from './prune.ts';
import { runOnce } from './run.ts';

/** Options of {@link createSqliteInbox}. */
export interface SqliteInboxOptions {
  /**
   * Names the application and its environment, for example `billing-production`: 1 to 64 letters, digits,
   * `.`, `_` or `-`. Inboxes with the same scope share their records.
   */
  readonly scope: string;
}

/** The context of a handler of an inbox. */
export interface SqliteInboxContext extends HandlerContext {
  /**
   * Its writes are committed together with the record that this handler has handled the event. It
   * is dead once the handler has returned.
   */
  readonly database: SqliteTransaction;
}

/** Accepts a result that is not a promise. */
export type NotAPromise<Result> = Result extends PromiseLike<unknown> ? never : unknown;

/** Ties what handlers write in a file of SQLite to the record that they have handled an event. */
export interface SqliteInbox {
  /**
   * Makes a handler for `receiver.on`, which registers it by this name. In one transaction it runs `handler`
   * and writes the record that `name` has handled the event. If the record is there already, nothing is run.
   * `handler` is synchronous: SQLite has one writer, and an open transaction would take in what others write
   * on the same connection. One that returns a promise is rolled back, and the attempt fails.
   *
   * A name stands for one function in a receiver: `on` throws for a second one. If another receiver of the
   * process registers a different function under it, a report warns once (`inbox_name_shared`), because
   * each skips the events that the other has handled.
   *
   * @throws ConfigurationError for a name that is not a text of 1 to 100 characters. The handler rejects with
   * InboxError, with what `handler` threw, or with the signal's reason.
   *
   * @example
   * ```ts
   * receiver.on('transfer.succeeded', inbox.once('book', (event, { database }) => {
   *   database.prepare('insert into ledger (event_id) values (?)').run(event.id);
   * }));
   * ```
   */
  once<Event = InboxEvent, Result = unknown>(
    name: string,
    handler: (
      event: Event,
      context: SqliteInboxContext,
    ) => Result & NotAPromise<Result> & NotAGenerator<Result>,
    options?: OnceOptions<Event>,
  ): (event: Event, context: HandlerContext) => Promise<unknown>;

  /**
   * Deletes the records of events that were handled longer ago than this, in batches; resolves with their
   * number. An event whose record is gone runs again if it comes again, or if its dead letter is replayed.
   * Records of reruns are deleted by their own age, and count. The keys that `latest` remembers stay.
   *
   * @throws ConfigurationError for a wrong option; whatever SQLite refuses.
   */
  prune(options: { readonly olderThanMs: number }): Promise<number>;
}

/**
 * Creates an inbox: handlers whose effects are rows in the same file of SQLite have them exactly once,
 * whatever the store of the receiver has forgotten. Its tables are those of `migrateSqlite`. While a handler
 * runs, the event loop is blocked, and no other connection can write to the file.
 *
 * @throws ConfigurationError if the database is not a connection of `node:sqlite` or better-sqlite3, and for
 * a wrong or missing option.
 *
 * @example
 * ```ts
 * import { createSqliteInbox } from 'posthorn/sqlite';
 *
 * const inbox = createSqliteInbox(database, { scope: 'billing-production' });
 * ```
 */
export function createSqliteInbox(database: SqliteDatabase, options: SqliteInboxOptions): SqliteInbox {
  checkDatabase('createSqliteInbox', database);
  checkOptions(options, ['scope'], 'createSqliteInbox');
  const scope = readScope('createSqliteInbox', options.scope);
  const connection = SqliteConnection.of(database);
  const names = HandlerNames.of(database, 'main', scope);
  return {
    once: (name, handler, onceOptions = {}) =>
      onceHandler(
        { scope, names, name, handler, options: onceOptions },
        (run, event, context) => {
          const handle = (database: SqliteTransaction): unknown =>
            handler(event, contextWith(context, { database }));
          return runOnce(connection, { ...run, handle }, context);
        },
        (key) => hasRecord(connection, key),
      ),

    prune: async (pruneOptions) => prune(connection, scope, readAge(pruneOptions)),
  };
}
