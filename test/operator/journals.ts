import { randomUUID } from 'node:crypto';
import type { Journal, Receiver, Store } from 'posthorn';
import { createPostgresInbox, createPostgresJournal, createPostgresStore } from 'posthorn/postgres';
import { createSqliteInbox, createSqliteJournal, createSqliteStore } from 'posthorn/sqlite';
import { ampleJournal } from '../stores/kit/journal/journal-case.ts';
import type { DatabaseFixture } from '../stores/postgres/fixture.ts';
import { book, createLedger } from '../stores/postgres/ledger.ts';
import { driverPath } from '../stores/sqlite/driver.ts';
import type { SqliteFixture } from '../stores/sqlite/fixture.ts';
import { book as bookInSqlite, createLedger as createSqliteLedger } from '../stores/sqlite/ledger.ts';
import { ampleTime } from '../support/limits.ts';
import type { WorkerPlace } from './workers.ts';

/** A journal, beside a store and a ledger that handlers book in. */
export interface JournalPlace {
  readonly store: Store;
  readonly journal: Journal;
  /** Registers the handler `book` for all transfers. It fails for those of the type `transfer.failed`. */
  readonly register: (receiver: Receiver) => void;
  /** The ids of the bookings, sorted. */
  readonly bookings: () => Promise<readonly string[]>;
  readonly place: WorkerPlace;
}

export async function onPostgres(database: DatabaseFixture): Promise<JournalPlace> {
  const scope = randomUUID();
  const pool = database.connect();
  await createLedger(pool);
  const inbox = createPostgresInbox(pool, { scope });
  return {
    store: createPostgresStore(pool, { scope, ...ampleTime }),
    journal: createPostgresJournal(pool, { scope, ...ampleJournal }),
    register: (receiver) =>
      void receiver.on(
        'transfer.*',
        inbox.once('book', (event, { transaction }) => {
          refuseFailed(event.type);
          return book(event, transaction);
        }),
      ),
    bookings: async () => (await database.sql('select event_id from ledger')).split('\n').toSorted(),
    place: { STORE: 'postgres', PLACE: database.url(), SCOPE: scope },
  };
}

export async function onSqlite(sqlite: SqliteFixture): Promise<JournalPlace> {
  const scope = randomUUID();
  const connection = await sqlite.openMigrated();
  createSqliteLedger(connection);
  const inbox = createSqliteInbox(connection, { scope });
  return {
    store: createSqliteStore(connection, { scope, ...ampleTime }),
    journal: createSqliteJournal(connection, { scope, ...ampleJournal }),
    register: (receiver) =>
      void receiver.on(
        'transfer.*',
        inbox.once('book', (event, context) => {
          refuseFailed(event.type);
          bookInSqlite(event, context.database);
        }),
      ),
    bookings: async () => {
      const rows = connection.prepare('select event_id from ledger order by event_id').all();
      return rows.flatMap((row) => Object.values(Object(row)).map(String));
    },
    place: { STORE: 'sqlite', PLACE: sqlite.path, SCOPE: scope, DRIVER: driverPath },
  };
}

function refuseFailed(type: string): void {
  if (type === 'transfer.failed') throw new Error('out of order');
}
