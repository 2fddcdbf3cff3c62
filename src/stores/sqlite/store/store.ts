import type { Store } from '../../../receiver/dedupe/store.ts';
import { readServerOptions } from '../../kit/server-options.ts';
import { createServerStore } from '../../kit/server-store.ts';
import { checkDatabase, type SqliteDatabase } from '../client.ts';
import { SqliteConnection } from '../connection.ts';
import { SqliteOperations } from './operations.ts';

/** Options of {@link createSqliteStore}. */
export interface SqliteStoreOptions {
  /**
   * Names the application and its environment, for example `billing-production`: 1 to 64 letters, digits,
   * `.`, `_` or `-`. It is part of every key; receivers with the same scope share their ids.
   */
  readonly scope: string;
  /**
   * The time after which an operation counts as failed, in milliseconds; 2,000 by default. That
   * includes the time during which another process has the file locked. A claim that may wait for longer does
   * so while others write to the file.
   */
  readonly commandTimeoutMs?: number | undefined;
}

/**
 * Keeps event ids in a file of SQLite on a local disk: they outlive the process, and several processes of one
 * machine share them. The database is a connection of `node:sqlite` (Node.js 22.13 and later) or of
 * better-sqlite3 11 and later; closing it is up to you, after `receiver.close()`. `migrateSqlite` creates the
 * tables. Operations of one turn of the event loop share a transaction, whose COMMIT waits for the disk and
 * blocks the event loop meanwhile. A file that another process has locked is tried again without blocking. An
 * operation rejects with UnavailableError (`store_unavailable`) if SQLite refuses it, if the file is locked
 * for too long, or if it was deleted or moved; the message says what to do. A claim may wait for its turn for
 * its `waitMs`, if that is longer. Expired ids are deleted in small batches, now and then after a completion.
 *
 * @throws ConfigurationError if the database is not such a connection, and for a wrong or missing option.
 *
 * @example
 * ```ts
 * import { DatabaseSync } from 'node:sqlite';
 * import { createReceiver } from 'posthorn';
 * import { createSqliteStore, migrateSqlite } from 'posthorn/sqlite';
 *
 * const database = new DatabaseSync('/var/lib/billing/events.db');
 * await migrateSqlite(database);
 * const store = createSqliteStore(database, { scope: 'billing-production' });
 * const receiver = createReceiver({ signingKey, store });
 * ```
 */
export function createSqliteStore(database: SqliteDatabase, options: SqliteStoreOptions): Store {
  checkDatabase('createSqliteStore', database);
  const { scope, commandTimeoutMs } = readServerOptions('createSqliteStore', options, 2_000);
  const operations = new SqliteOperations(SqliteConnection.of(database), scope, commandTimeoutMs);
  return createServerStore({
    name: 'SQLite',
    commandTimeoutMs,
    run: (operation) => operations.run(operation),
    queuesClaims: true,
    isAtWork: () => operations.isAtWork,
  });
}
