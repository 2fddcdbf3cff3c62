import { LRUCache } from 'lru-cache';
import { toKey } from '../../../receiver/dedupe/store.ts';
import type { Journal, JournalRecord } from '../../../receiver/journal/journal.ts';
import { keyOfRecord, mergeRecords } from '../../../receiver/journal/record.ts';
import { Cleaning } from '../../kit/cleaning.ts';
import type { JournalOperations, StoredEntry } from '../../kit/journal/journal-operations.ts';
import { type JournalOptions, readJournalOptions } from '../../kit/journal/journal-options.ts';
import { createServerJournal } from '../../kit/journal/server-journal.ts';
import { parseRecord, storableJson } from '../../kit/journal/stored-record.ts';
import { checkDatabase, type SqliteDatabase } from '../client.ts';
import { type Row, SqliteConnection } from '../connection.ts';
import { explain } from '../errors.ts';
import { retryWhileBusy } from '../retry-while-busy.ts';
import { writeInTurn } from '../single-write.ts';
import { CHANGED_ROWS, type SqlStatement } from '../statement.ts';
import {
  deleteOldEntries,
  findEntries,
  lookAtEntries,
  readEntries,
  readRecord,
  writeRecord,
} from './statements.ts';

/** Options of {@link createSqliteJournal}. */
export type SqliteJournalOptions = JournalOptions;

/** The rows that are deleted in one transaction, during which the event loop is blocked. */
const CLEANING_BATCH = 50;

/**
 * The batches that are remembered. A receiver writes one again if the journal was slower than the receiver
 * waits, and both writes may come through.
 */
const KEPT_BATCHES = 100;

/**
 * Keeps a record of the events in a file of SQLite, for people: an entry for each authentic event that a
 * receiver got, with its outcome and its body. Receivers write it after their answers, up to a hundred events
 * in one transaction, and go on without it. The database is a connection of `node:sqlite` or better-sqlite3;
 * closing it is up to you, after `receiver.close()`. `migrateSqlite` creates the table. Entries are deleted
 * after `retentionMs`, 50 at a time. Its methods reject with JournalError.
 *
 * @throws ConfigurationError if the database is not such a connection, and for a wrong or missing option.
 *
 * @example
 * ```ts
 * import { createReceiver } from 'posthorn';
 * import { createSqliteJournal } from 'posthorn/sqlite';
 *
 * const journal = createSqliteJournal(database, { scope: 'billing-production' });
 * const receiver = createReceiver({ signingKey, journal });
 * console.log((await journal.get('evt_123'))?.outcome);
 * ```
 */
export function createSqliteJournal(database: SqliteDatabase, options: SqliteJournalOptions): Journal {
  checkDatabase('createSqliteJournal', database);
  const { bodies, ...settings } = readJournalOptions('createSqliteJournal', options);
  const operations = createOperations(SqliteConnection.of(database), settings);
  return createServerJournal('SQLite', settings.scope, bodies, operations);
}

interface JournalSettings {
  readonly scope: string;
  readonly commandTimeoutMs: number;
  readonly retentionMs: number;
}

function createOperations(
  connection: SqliteConnection,
  { commandTimeoutMs: limitMs, retentionMs, scope }: JournalSettings,
): JournalOperations {
  const written = new LRUCache<string, true>({ max: KEPT_BATCHES });
  const read = (statement: SqlStatement): Promise<readonly Row[]> =>
    explained(() => retryWhileBusy(limitMs, () => connection.read(() => connection.all(statement))));
  const write = <T>(work: () => T): Promise<T> =>
    explained(() => writeInTurn(connection, 'operation', { limitMs }, () => connection.write(work)));
  const deleteOld = (olderThanMs: number): Promise<number> =>
    write(() => {
      connection.run(deleteOldEntries(scope, olderThanMs, CLEANING_BATCH));
      return Number(connection.first(CHANGED_ROWS)?.[0]);
    });

  return {
    record: async ({ batchId, records }) => {
      const isNew = await write(() => {
        if (written.has(batchId)) return false;
        for (const record of records) mergeInto(connection, scope, record);
        return true;
      });
      if (isNew) written.set(batchId, true);
    },
    find: async (key, id) => (await read(findEntries(scope, key, id))).map(toStoredEntry),
    read: async (keys, bodies) => (await read(readEntries(scope, keys, bodies))).map(toStoredEntry),
    lookAt: async (selection, after) =>
      (await read(lookAtEntries(scope, selection, after))).map(([firstReceivedAt, key, matches]) => ({
        firstReceivedAt: Number(firstReceivedAt),
        key: String(key),
        matches: Number(matches) === 1,
      })),
    deleteOld,
    batchSize: CLEANING_BATCH,
    cleaning: new Cleaning({
      batchSize: CLEANING_BATCH,
      deleteBatch: () => deleteOld(retentionMs),
      // The next record fails for the same reason, and is reported.
      onFailure: () => {},
    }),
  };
}

async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw explain(error);
  }
}

function mergeInto(connection: SqliteConnection, scope: string, given: JournalRecord): void {
  const { rawBody, ...rest } = given;
  const record = { ...parseRecord(storableJson(rest)), rawBody };
  const key = toKey(keyOfRecord(given));
  const [json] = connection.first(readRecord(scope, key)) ?? [];
  const merged = json === undefined ? record : mergeRecords(parseRecord(String(json)), record);
  connection.run(writeRecord(scope, key, merged));
}

function toStoredEntry([key, json, rawBody]: Row): StoredEntry {
  return {
    key: String(key),
    json: String(json),
    rawBody: typeof rawBody === 'string' ? Buffer.from(rawBody, 'base64') : undefined,
  };
}
