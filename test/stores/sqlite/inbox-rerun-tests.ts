import type { WebhookEvent } from 'posthorn';
import { createSqliteInbox, migrateSqlite, type SqliteDatabase } from 'posthorn/sqlite';
import { createEvent } from 'posthorn/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { expectCause } from '../../support/error-of.ts';
import { openDirectly } from '../../support/open-endpoint.ts';
import {
  type BookingInbox,
  handled,
  latestOf,
  rerunBook,
  testReruns,
  tracesOf,
} from '../kit/inbox/rerun-cases.ts';
import type { Connection, OpenDatabase } from './connection.ts';
import { createEarlierTables } from './earlier-tables.ts';
import { useSqlite } from './fixture.ts';
import { book, bookings, createLedger, recordsOf, rerunsOf } from './ledger.ts';

/** The scope of inboxes whose events are run once more. */
export const RERUN_SCOPE = 'rerun-test';
const scope = RERUN_SCOPE;

/** An inbox in a database, which has a ledger. */
export function bookingInbox(database: () => SqliteDatabase): BookingInbox {
  return {
    open: (work = () => {}) => {
      const once = createSqliteInbox(database(), { scope }).once(
        'book',
        (event: WebhookEvent, context) => {
          book(event, context.database);
          work(event, context.rerun);
        },
        { latest: latestOf },
      );
      return openDirectly({}, (receiver) => void receiver.on('transfer.*', once));
    },
    bookings: (event) => bookings(database(), event),
    recordsOf: (event) => recordsOf(database(), event),
    rerunsOf: (event) => rerunsOf(database(), event),
    forget: ({ id }) => database().prepare('delete from posthorn_inbox where event_key = ?').run(id),
  };
}

/** What an inbox promises of reruns. */
export function testRerunsInSqlite(openDatabase: OpenDatabase): void {
  describe('a rerun of a handler of an inbox in SQLite', () => {
    const fixture = useSqlite(openDatabase);
    let database: Connection;
    beforeEach(async () => {
      database = await fixture.openMigrated();
      createLedger(database);
    });

    const inbox = bookingInbox(() => database);
    testReruns(inbox);

    test.each([
      { end: 'commit', code: 'handler_failed_permanently', rows: 2 },
      { end: 'rollback', code: 'handler_failed', rows: 1 },
    ])('has no record of a handler whose own statement is a $end', async ({ end, code, rows }) => {
      const event = await handled(inbox);
      const statement = database.prepare(end);
      const ending = inbox.open(() => void statement.run());
      expect(await rerunBook(ending, event, 'fix')).toMatchObject({ outcome: 'failed', code });
      expect(await tracesOf(inbox, event)).toEqual([rows, ['book'], []]);
      expect(await rerunBook(inbox.open(), event, 'fix')).toMatchObject({ outcome: 'processed' });
      expect(await tracesOf(inbox, event)).toEqual([rows + 1, ['book'], ['fix']]);
    });

    test('is pruned by its own age, in batches', async () => {
      const inOrder = createSqliteInbox(database, { scope });
      const event = database.prepare('insert into posthorn_inbox values (?, ?, ?, ?)');
      const rerun = database.prepare('insert into posthorn_inbox_reruns values (?, ?, ?, ?, ?)');
      const now = Date.now();
      database.exec('begin');
      // Three names each, so that a batch of 5,000 ends between the names of an event.
      for (let number = 0; number < 4_000; number += 1) {
        event.run(scope, `evt_${number}`, 'book', number % 4 === 0 ? 1 : now);
        for (const run of ['a', 'b', 'c'])
          rerun.run(scope, `evt_${number}`, 'book', run, number % 2 === 0 ? 1 : now);
      }
      rerun.run('other-scope', 'evt_0', 'book', 'a', 1);
      database.exec('commit');
      expect(await inOrder.prune({ olderThanMs: 60_000 })).toBe(1_000 + 6_000);
      expect(await inOrder.prune({ olderThanMs: 60_000 })).toBe(0);
      const left = (table: string) => database.prepare(`select 1 from ${table}`).all().length;
      expect([left('posthorn_inbox'), left('posthorn_inbox_reruns')]).toEqual([3_000, 6_001]);
    });
  });

  describe('a file of the version that had no reruns', () => {
    const fixture = useSqlite(openDatabase);

    const openEarlier = (): Connection => {
      const database = fixture.open();
      createEarlierTables(database, ['posthorn_journal']);
      createLedger(database);
      return database;
    };

    /** What a process of that version writes as its handler ends. */
    const recordEarlier = (database: Connection, event: WebhookEvent): void => {
      const sql = 'insert into posthorn_inbox (scope, event_key, handler, handled_at) values (?, ?, ?, 1)';
      database.prepare(sql).run(scope, event.id, 'book');
    };

    const openBook = (database: Connection) =>
      openDirectly({}, (receiver) => {
        const once = createSqliteInbox(database, { scope }).once('book', (event, context) =>
          book(event, context.database),
        );
        receiver.on('transfer.*', once);
      });

    test('handles events, and says that a rerun needs its table', async () => {
      const database = openEarlier();
      const { receiver, reports, send } = openBook(database);
      const event = createEvent('transfer.succeeded');
      expect((await send(event)).status).toBe(200);
      expect(await rerunBook({ receiver }, event, 'fix')).toMatchObject({ outcome: 'failed' });
      expectCause(
        reports.all[1],
        'inbox_unavailable',
        'call migrateSqlite(database), or run "npx posthorn sqlite',
      );
      expect([bookings(database, event), recordsOf(database, event)]).toEqual([1, ['book']]);
      await migrateSqlite(database);
      expect(await rerunBook({ receiver }, event, 'fix')).toMatchObject({ outcome: 'processed' });
      expect([bookings(database, event), rerunsOf(database, event)]).toEqual([2, ['fix']]);
    });

    test('stays at its version: processes of that version may start, and their records count', async () => {
      const earlier = openEarlier();
      await Promise.all([1, 2, 3].map(() => migrateSqlite(fixture.open())));
      const database = fixture.open();
      const versions = database.prepare('select version from posthorn_migrations').all();
      expect(versions.map((row) => Object.values(Object(row)))).toEqual([[1]]);
      const event = createEvent('transfer.succeeded');
      recordEarlier(earlier, event);
      const { receiver, send } = openBook(database);
      expect((await send(event)).status).toBe(200);
      expect([bookings(database, event), recordsOf(database, event)]).toEqual([0, ['book']]);
      expect(await rerunBook({ receiver }, event, 'fix')).toMatchObject({ outcome: 'processed' });
      expect([bookings(database, event), rerunsOf(database, event)]).toEqual([1, ['fix']]);
    });

    test('is not pruned before it has the table, so that no record goes alone', async () => {
      const database = openEarlier();
      const event = createEvent('transfer.succeeded');
      recordEarlier(database, event);
      const inbox = createSqliteInbox(database, { scope });
      await expect(inbox.prune({ olderThanMs: 60_000 })).rejects.toThrow('call migrateSqlite(database)');
      expect(recordsOf(database, event)).toEqual(['book']);
      await migrateSqlite(database);
      expect(await inbox.prune({ olderThanMs: 60_000 })).toBe(1);
    });
  });
}
