import { createReceiver, PermanentError } from 'posthorn';
import { createSqliteInbox, type SqliteDatabase, type SqliteTransaction } from 'posthorn/sqlite';
import { createEvent } from 'posthorn/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { awaitedLater } from '../../support/awaited-later.ts';
import { expectCause } from '../../support/error-of.ts';
import { stoppedClock } from '../../support/monotonic-clock.ts';
import { openEndpoint, sendNew } from '../../support/open-endpoint.ts';
import { KEY } from '../../support/served.ts';
import { throwing } from '../../support/throwing.ts';
import type { OpenDatabase } from './connection.ts';
import { useSqlite } from './fixture.ts';
import { book, bookings, createLedger, recordsOf } from './ledger.ts';
import { watch } from './watched.ts';

const scope = 'inbox-test';

/** What an inbox promises. */
export function testInbox(openDatabase: OpenDatabase): void {
  describe('an inbox in SQLite', () => {
    const fixture = useSqlite(openDatabase);
    let database: SqliteDatabase;
    beforeEach(async () => {
      database = await fixture.openMigrated();
      createLedger(database);
    });

    type Handle = (database: SqliteTransaction, id: string) => unknown;

    /** A receiver with a store of its own, which has forgotten everything, and one handler. */
    const open = (handle: Handle, inbox = createSqliteInbox(database, { scope })) =>
      openEndpoint({}, (receiver) => {
        receiver.on(
          'transfer.*',
          inbox.once('book', (event, context) => {
            book(event, context.database);
            return handle(context.database, event.id);
          }),
        );
      });

    test('commits the record of the event with what the handler writes', async () => {
      const { send, reports } = await open(() => {});
      const event = createEvent('transfer.succeeded');
      expect(await send(event)).toMatchObject({ status: 200, body: { outcome: 'processed' } });
      expect([bookings(database, event), recordsOf(database, event)]).toEqual([1, ['book']]);
      expect(reports.all[0]?.handlers).toEqual([{ name: 'book', ok: true, durationMs: expect.any(Number) }]);
    });

    test('runs nothing for an event that it has handled, whatever the store has forgotten', async () => {
      const event = createEvent('transfer.succeeded');
      await (await open(() => {})).send(event);
      const { send, reports } = await open(() => expect.unreachable());
      expect(await send(event)).toMatchObject({ status: 200, body: { outcome: 'processed' } });
      expect(bookings(database, event)).toBe(1);
      expect(reports.all[0]?.handlers).toMatchObject([{ name: 'book', ok: true, skipped: 'handled_before' }]);
    });

    test('leaves no row of a handler that fails after its insert', async () => {
      const { send, reports } = await open(throwing('after the insert'));
      const event = createEvent('transfer.succeeded');
      expect(await send(event)).toMatchObject({ status: 500, body: { code: 'handler_failed' } });
      expect(reports.all[0]?.error?.cause).toMatchObject({ message: 'after the insert' });
      expect([bookings(database, event), recordsOf(database, event)]).toEqual([0, []]);
      expect((await (await open(() => {})).send(event)).status).toBe(200);
      expect(bookings(database, event)).toBe(1);
    });

    test('lets a PermanentError through, and rolls back', async () => {
      const { send } = await open(throwing(new PermanentError('no retry can help')));
      const event = createEvent('transfer.succeeded');
      expect(await send(event)).toMatchObject({ status: 500, body: { code: 'handler_failed_permanently' } });
      expect(bookings(database, event)).toBe(0);
    });

    test.for<[string, Handle, string, string]>([
      // A rejection that nobody handles.
      ['promise', () => Promise.reject(new Error('no')), 'inbox_handler_async', 'must be synchronous'],
      ['generator', () => [].values(), 'configuration_invalid', 'which does nothing until somebody iterates'],
    ])('rolls back a handler that returns a %s, and says why', async ([, handle, code, message]) => {
      const { send, reports } = await open(handle);
      const event = createEvent('transfer.succeeded');
      expect(await send(event)).toMatchObject({ status: 500, body: { code: 'handler_failed' } });
      expectCause(reports.all[0], code, message);
      expect([bookings(database, event), recordsOf(database, event)]).toEqual([0, []]);
    });

    test.each([
      { end: 'returned', thrown: [] },
      { end: 'thrown', thrown: [new Error('no')] },
    ])('gives a database that is dead once the handler has $end', async ({ thrown }) => {
      let later: SqliteTransaction | undefined;
      const { send } = await open((transaction) => {
        later = transaction;
        for (const error of thrown) throw error;
      });
      const event = createEvent('transfer.succeeded');
      await send(event);
      const insert = "insert into ledger (event_id) values ('late')";
      const statement = database.prepare(insert);
      expect(() => later?.exec(insert)).toThrow(expect.objectContaining({ code: 'inbox_transaction_ended' }));
      expect(() => later?.prepare(insert)).toThrow(
        expect.objectContaining({ code: 'inbox_transaction_ended' }),
      );
      expect(bookings(database, { id: 'late' })).toBe(0);
      expect(statement).toBeDefined();
    });

    test('gives statements that are dead once the handler has returned', async () => {
      let run = (): unknown => undefined;
      const { send } = await open((transaction) => {
        const insert = transaction.prepare("insert into ledger (event_id) values ('late')");
        run = () => insert.run();
      });
      await send(createEvent('transfer.succeeded'));
      expect(run).toThrow(expect.objectContaining({ code: 'inbox_transaction_ended' }));
      expect(bookings(database, { id: 'late' })).toBe(0);
    });

    test.each([
      'commit',
      ' ; COMMIT',
      'begin immediate',
      'end',
      'rollback',
      '-- mine\nrollback transaction',
      '/* mine; */ commit',
      "select ';'; commit",
      'create trigger t after insert on ledger begin select 1; end; commit',
      '\ufeffcommit',
      '\ufeffrollback',
      '-- mine\n\ufeff/* mine */\ufeff \ufeffEND',
      'select 1;\ufeffcommit',
      'rollback\0 to mine',
      'rollback --\0\n to mine',
      'create \ufefftemp\ufeff \ufefftrigger t after insert on ledger begin select 1; \ufeffend; commit',
    ])('refuses %j from a handler before it reaches SQLite', async (sql) => {
      const { send, reports } = await open((transaction) => transaction.exec(sql));
      const event = await sendNew(send, 500);
      expect(reports.all[0]?.error?.cause).toMatchObject({ code: 'inbox_transaction_ended' });
      expect([bookings(database, event), recordsOf(database, event)]).toEqual([0, []]);
    });

    test.each([
      'savepoint mine; insert into ledger (event_id) values (1); rollback to mine; release mine',
      'select \'commit; rollback\', "end" from (select 1 as "end"); -- commit;',
      'create temp trigger "begin" after insert on ledger begin select 1; end',
      'select [commit] from (select 1 as [commit]) /* ; commit */ ; ;',
      'create \ufefftemp \ufefftrigger other after insert on ledger begin select 1;\ufeffend',
      'savepoint mine; \ufeffrollback \ufeffto mine; \ufeffrelease mine',
    ])('lets a handler run %j', async (sql) => {
      const { send } = await open((transaction) => transaction.exec(sql));
      const event = await sendNew(send, 200);
      expect([bookings(database, event), recordsOf(database, event)]).toEqual([1, ['book']]);
    });

    test('lets no COMMIT through behind any character that SQLite may skip', async () => {
      const skippable = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter(
        (character) => /[\s\p{Cc}\p{Cf}\p{Z};]/u.test(character),
      );
      const { send } = await open((transaction) => {
        for (const character of skippable) {
          for (const start of [character, ` ${character}`, `select 1;${character}`]) {
            try {
              transaction.exec(`${start}commit`);
            } catch {
              // Refused by the inbox, or by SQLite, which takes it for an error.
            }
          }
        }
      });
      const event = await sendNew(send, 200);
      expect([bookings(database, event), recordsOf(database, event)]).toEqual([1, ['book']]);
    });

    test('commits after an error that a handler has caught', async () => {
      const { send } = await open((transaction) => {
        expect(() => transaction.prepare('insert into ledger (event_id) values (null)').run()).toThrow();
      });
      const event = await sendNew(send, 200);
      expect([bookings(database, event), recordsOf(database, event)]).toEqual([1, ['book']]);
    });

    test('fails an attempt whose transaction SQLite has rolled back, whatever the handler does then', async () => {
      database.exec('create table once (id text unique on conflict rollback)');
      const { send, reports } = await open((transaction) => {
        transaction.exec("insert into once values ('a')");
        expect(() => transaction.exec("insert into once values ('a')")).toThrow();
        expect(() => transaction.exec("insert into ledger (event_id) values ('alone')")).toThrow();
      });
      const event = await sendNew(send, 500);
      expect(reports.all[0]?.error?.cause).toMatchObject({ code: 'inbox_rolled_back' });
      expect([bookings(database, event), bookings(database, { id: 'alone' })]).toEqual([0, 0]);
      expect(recordsOf(database, event)).toEqual([]);
    });

    test('is not taken in by the transaction of the application on the same connection', async () => {
      const { send, reports } = await open(() => {});
      const event = createEvent('transfer.succeeded');
      database.exec('begin');
      expect((await send(event)).status).toBe(500);
      expectCause(reports.all[0], 'inbox_unavailable', 'give posthorn a connection of its own');
      database.exec('rollback');
      expect((await send(event)).status).toBe(200);
      expect([bookings(database, event), recordsOf(database, event)]).toEqual([1, ['book']]);
    });

    test('waits for another process that has the lock, without blocking', async () => {
      const watched = watch(database);
      const { send } = await open(() => {}, createSqliteInbox(watched, { scope }));
      const other = fixture.open();
      other.exec('begin immediate');
      const event = createEvent('transfer.succeeded');
      const answer = send(event);
      // The event loop goes on while the handler waits for the lock.
      await watched.triedAgain();
      expect(bookings(database, event)).toBe(0);
      other.exec('commit');
      expect((await answer).status).toBe(200);
      expect(bookings(database, event)).toBe(1);
    });

    test('fails at the deadline of the delivery if another process keeps the lock', async () => {
      const forward = stoppedClock();
      const watched = watch(database);
      const inbox = createSqliteInbox(watched, { scope });
      const { send, reports } = await openEndpoint({ deadlineMs: 25_000 }, (receiver) => {
        receiver.on(
          '*',
          inbox.once('book', (event, context) => book(event, context.database)),
        );
      });
      const other = fixture.open();
      other.exec('begin immediate');
      const answer = send(createEvent('transfer.succeeded'));
      await watched.triedAgain();
      // The inbox leaves 200 ms of the delivery's time for its report.
      forward(24_800);
      expect((await answer).status).toBe(500);
      expectCause(reports.all[0], 'inbox_unavailable', /has had the file locked for \d+ ms/);
      other.exec('rollback');
    });

    test('stops waiting for the lock when the signal aborts', async () => {
      const watched = watch(database);
      const once = createSqliteInbox(watched, { scope }).once('book', () => expect.unreachable());
      let running: Promise<unknown> | undefined;
      const { send, receiver } = await openEndpoint({}, (to) => {
        to.on('*', (event, context) => {
          running = once(event, context);
          return running;
        });
      });
      const other = fixture.open();
      other.exec('begin immediate');
      const answer = send(createEvent('transfer.succeeded'));
      await watched.triedAgain();
      await receiver.close({ graceMs: 0 });
      expect((await answer).status).toBe(503);
      await expect(running).rejects.toMatchObject({ code: 'run_closed' });
      other.exec('rollback');
    });

    test('fails with an error of a handler that looks like a lock of the file', async () => {
      const errors = [Object.assign(new Error('locked elsewhere'), { code: 'SQLITE_BUSY' })];
      const { send, reports } = await open(() => {
        for (const error of errors.splice(0)) throw error;
      });
      const event = await sendNew(send, 500);
      expect(reports.all[0]?.error?.cause).toMatchObject({ message: 'locked elsewhere' });
      expect((await send(event)).status).toBe(200);
      expect([bookings(database, event), recordsOf(database, event)]).toEqual([1, ['book']]);
    });

    test('a name stands for one function in a receiver', () => {
      const inbox = createSqliteInbox(database, { scope });
      const receiver = createReceiver({ signingKey: KEY }).on(
        'transfer.*',
        inbox.once('one', () => {}),
      );
      const other = createSqliteInbox(database, { scope }).once('one', () => 1);
      expect(() => receiver.on('dispute.*', other)).toThrow(/"one" is taken/);
    });

    test('prunes the records that are older than asked, in batches', async () => {
      const inbox = createSqliteInbox(database, { scope });
      const insert = database.prepare('insert into posthorn_inbox values (?, ?, ?, ?)');
      database.exec('begin');
      for (let number = 0; number < 12_000; number += 1)
        insert.run(scope, `evt_${number}`, 'book', number % 2 === 0 ? 1 : Date.now());
      insert.run('other-scope', 'evt_1', 'book', 1);
      database.exec('commit');
      expect(await inbox.prune({ olderThanMs: 60_000 })).toBe(6_000);
      expect(await inbox.prune({ olderThanMs: 60_000 })).toBe(0);
      expect(database.prepare('select 1 from posthorn_inbox').all()).toHaveLength(6_001);
      await expect(inbox.prune({ olderThanMs: -1 })).rejects.toThrow(/olderThanMs must be a number/);
    });

    test('prunes once another process has given its lock back', async () => {
      const watched = watch(database);
      database.prepare('insert into posthorn_inbox values (?, ?, ?, ?)').run(scope, 'evt', 'book', 1);
      const other = fixture.open();
      other.exec('begin immediate');
      const pruned = awaitedLater(createSqliteInbox(watched, { scope }).prune({ olderThanMs: 60_000 }));
      await watched.triedAgain();
      other.exec('commit');
      expect(await pruned).toBe(1);
    });
  });
}
