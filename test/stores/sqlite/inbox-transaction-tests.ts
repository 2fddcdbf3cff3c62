import type { DeadLetter } from 'posthorn';
import { createSqliteInbox, type SqliteDatabase, type SqliteTransaction } from 'posthorn/sqlite';
import { createEvent } from 'posthorn/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { expectCause } from '../../support/error-of.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { type EndpointOptions, openEndpoint, sendNew } from '../../support/open-endpoint.ts';
import type { Connection, OpenDatabase } from './connection.ts';
import { useSqlite } from './fixture.ts';
import { book, bookings, createLedger, recordsOf } from './ledger.ts';

const scope = 'transaction-test';

/** What a call throws. Within a handler, a failed expectation would look like a handler that fails. */
function thrownBy(call: () => unknown): unknown {
  try {
    call();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** What an inbox promises if its transaction ends before the handler does, whoever has ended it. */
export function testTransactions(openDatabase: OpenDatabase): void {
  describe('the transaction of an inbox in SQLite', () => {
    const fixture = useSqlite(openDatabase);
    let database: Connection;
    beforeEach(async () => {
      database = await fixture.openMigrated();
      createLedger(database);
    });

    type Handle = (transaction: SqliteTransaction, id: string) => unknown;

    const open = (handle: Handle, options: EndpointOptions = {}, on: SqliteDatabase = database) =>
      openEndpoint(options, (receiver) => {
        receiver.on(
          'transfer.*',
          createSqliteInbox(on, { scope }).once('book', (event, context) => {
            book(event, context.database);
            return handle(context.database, event.id);
          }),
        );
      });

    const outcomeOf = (event: { readonly id: string }) => [
      bookings(database, event),
      recordsOf(database, event),
    ];

    /** Ways in which SQLite rolls back by itself, by a statement of the application's own connection. */
    const causes: Readonly<Record<string, () => () => unknown>> = {
      'INSERT OR ROLLBACK': () => {
        database.exec("create table names (name text unique); insert into names values ('taken')");
        const insert = database.prepare("insert or rollback into names values ('taken')");
        return () => insert.run();
      },
      'RAISE(ROLLBACK) in a trigger': () => {
        database.exec(`create table names (name text);
          create trigger no_names before insert on names begin select raise(rollback, 'no names'); end`);
        const insert = database.prepare("insert into names values ('one')");
        return () => insert.run();
      },
      SQLITE_FULL: () => {
        database.exec('create table blobs (content blob)');
        const insert = database.prepare('insert into blobs values (zeroblob(1000000))');
        return () => {
          database.exec('pragma max_page_count = 50');
          insert.run();
        };
      },
    };

    describe.each(Object.entries(causes))('after %s', (_name, cause) => {
      test('has no record if the handler swallows the error', async () => {
        const fail = cause();
        const { send, reports } = await open(() => void expect(fail).toThrow());
        const event = createEvent('transfer.succeeded');
        for (const _attempt of [1, 2]) {
          expect(await send(event)).toMatchObject({ status: 500, body: { code: 'handler_failed' } });
          expect(outcomeOf(event)).toEqual([0, []]);
        }
        expectCause(reports.all[1], 'inbox_rolled_back', 'let the error out of the handler');
        database.exec('pragma max_page_count = 100000');
        expect((await (await open(() => {})).send(event)).status).toBe(200);
        expect(outcomeOf(event)).toEqual([1, ['book']]);
      });

      test('takes nothing more by context.database', async () => {
        const fail = cause();
        const refusals: unknown[] = [];
        const { send } = await open((transaction) => {
          const insert = transaction.prepare("insert into ledger (event_id) values ('alone')");
          expect(fail).toThrow();
          refusals.push(thrownBy(() => insert.run()));
          refusals.push(thrownBy(() => transaction.exec("insert into ledger (event_id) values ('alone')")));
        });
        const event = await sendNew(send, 500);
        expect(refusals).toMatchObject([{ code: 'inbox_rolled_back' }, { code: 'inbox_rolled_back' }]);
        expect([...outcomeOf(event), bookings(database, { id: 'alone' })]).toEqual([0, [], 0]);
      });

      test('fails with the error of the handler if it lets it out', async () => {
        const { send, reports } = await open(cause());
        const event = createEvent('transfer.succeeded');
        expect(await send(event)).toMatchObject({ status: 500, body: { code: 'handler_failed' } });
        expect(reports.all[0]?.error?.cause).not.toMatchObject({ name: 'InboxError' });
        expect(outcomeOf(event)).toEqual([0, []]);
      });
    });

    test('takes nothing more on a connection that cannot say whether it is in a transaction', async () => {
      const silent: SqliteDatabase = {
        exec: (sql) => database.exec(sql),
        prepare: (sql) => database.prepare(sql),
      };
      const refusals: unknown[] = [];
      const handle: Handle = (transaction, id) => {
        transaction.exec(`insert into ledger (event_id) values ('${id}')`);
        if (id.startsWith('rolled-back')) database.exec('rollback');
        const insert = (): void => transaction.exec(`insert into ledger (event_id) values ('${id}')`);
        refusals.push(thrownBy(insert), database.inTransaction);
      };
      const { send } = await open(handle, {}, silent);
      const event = await sendNew(send, 200);
      expect(outcomeOf(event)).toEqual([3, ['book']]);
      const rolledBack = { ...event, id: `rolled-back-${event.id}` };
      expect((await send(rolledBack)).status).toBe(500);
      expect(outcomeOf(rolledBack)).toEqual([0, []]);
      expect(refusals).toMatchObject([undefined, true, { code: 'inbox_rolled_back' }, false]);
    });

    test('takes a connection at its word that it is in a transaction', async () => {
      const texts: string[] = [];
      const watched: SqliteDatabase = {
        exec: (sql) => {
          texts.push(sql);
          return database.exec(sql);
        },
        prepare: (sql) => database.prepare(sql),
        get isTransaction() {
          return database.inTransaction;
        },
      };
      const { send } = await open((transaction) => transaction.exec('select 1'), {}, watched);
      expect((await send(createEvent('transfer.succeeded'))).status).toBe(200);
      const words = texts.map((text) => text.split(' ', 1)[0]).filter((word) => word !== 'pragma');
      expect(words).toEqual(['savepoint', 'select', 'release']);
    });

    test('leaves what the handler writes on a connection of its own after a rollback, once for each attempt', async () => {
      const insert = database.prepare('insert into ledger (event_id) values (?)');
      const { send } = await open(() => {
        insert.run('before');
        database.exec('rollback');
        insert.run('after');
      });
      const event = createEvent('transfer.succeeded');
      for (const attempt of [1, 2]) {
        expect((await send(event)).status).toBe(500);
        expect(outcomeOf(event)).toEqual([0, []]);
        expect(['before', 'after'].map((id) => bookings(database, { id }))).toEqual([0, attempt]);
      }
    });

    test.each(['rollback; begin', 'rollback; begin; savepoint mine', 'rollback; savepoint mine'])(
      'has neither record nor rows after %j on the connection of the application',
      async (sql) => {
        const { send, reports } = await open((transaction) => {
          database.exec(sql);
          transaction.exec("insert into ledger (event_id) values ('after')");
        });
        const event = createEvent('transfer.succeeded');
        expect(await send(event)).toMatchObject({ status: 500, body: { code: 'handler_failed' } });
        expect(reports.all[0]?.error?.cause).toMatchObject({ code: 'inbox_rolled_back' });
        expect([...outcomeOf(event), bookings(database, { id: 'after' })]).toEqual([0, [], 0]);
        // The connection is free again.
        expect((await (await open(() => {})).send(event)).status).toBe(200);
      },
    );

    test('is not proven by a savepoint with the name of the run before', async () => {
      const names: string[] = [];
      const watched: SqliteDatabase = {
        exec: (sql) => {
          const [, name] = /^savepoint (.+)/.exec(sql) ?? [];
          if (name !== undefined) names.push(name);
          return database.exec(sql);
        },
        prepare: (sql) => database.prepare(sql),
      };
      await (await open(() => {}, {}, watched)).send(createEvent('transfer.succeeded'));
      expect(names).toHaveLength(1);
      const { send } = await open(() => database.exec(`rollback; begin; savepoint ${names[0]}`), {}, watched);
      const event = await sendNew(send, 500);
      expect(outcomeOf(event)).toEqual([0, []]);
    });

    test.each<[string, (id: string) => unknown]>([
      ['commits', () => database.exec('commit')],
      ['commits by a compiled statement', () => database.prepare('commit').run()],
      ['commits and begins another one', () => database.exec('commit; begin')],
      [
        'commits, and rolls another one back',
        () => database.exec("commit; begin; insert into ledger (event_id) values ('x'); rollback"),
      ],
      [
        'commits and throws',
        () => {
          database.exec('commit');
          throw new Error('no');
        },
      ],
    ])('fails for good, and has no record, if the handler %s', async (_name, end) => {
      const letters = new Map<string, DeadLetter>();
      const event = createEvent('transfer.succeeded');
      const { send } = await open((_transaction, id) => end(id), {
        deadLetters: createMapDeadLetters(letters),
      });
      expect(await send(event)).toMatchObject({ status: 200, body: { outcome: 'parked' } });
      expect(letters.get(event.id)).toMatchObject({
        reason: 'handler_failed_permanently',
        message: expect.stringContaining('rows that it wrote may have been committed'),
      });
      expect([...outcomeOf(event), bookings(database, { id: 'x' })]).toEqual([1, [], 0]);
    });

    test('refuses statements of context.database after a COMMIT on the same connection', async () => {
      let refusal: unknown;
      const { send } = await open((transaction) => {
        database.exec('commit');
        refusal = thrownBy(() => transaction.exec("insert into ledger (event_id) values ('alone')"));
      });
      expect(await send(createEvent('transfer.succeeded'))).toMatchObject({
        status: 500,
        body: { code: 'handler_failed_permanently' },
      });
      expect(refusal).toMatchObject({ code: 'inbox_transaction_ended' });
      expect(bookings(database, { id: 'alone' })).toBe(0);
    });

    test('is committed, with savepoints that the handler has left open', async () => {
      const { send } = await open((transaction) => {
        transaction.exec("savepoint mine; insert into ledger (event_id) values ('undone'); rollback to mine");
        transaction.exec('savepoint mine; savepoint other');
        database.exec('savepoint mine; release mine');
        expect(() => transaction.exec('release other_name')).toThrow(/no such savepoint/);
        expect(() => transaction.exec('rollback to other_name')).toThrow(/no such savepoint/);
      });
      const event = await sendNew(send, 200);
      expect([...outcomeOf(event), bookings(database, { id: 'undone' })]).toEqual([1, ['book'], 0]);
    });

    test('checks deferred foreign keys at its COMMIT, and not before', async () => {
      database.exec('pragma foreign_keys = on');
      database.exec(`create table parents (id integer primary key);
        create table children (parent integer references parents deferrable initially deferred)`);
      const complete = await open((transaction) => {
        transaction.exec('insert into children values (1); insert into parents values (1)');
      });
      const event = await sendNew(complete.send, 200);
      expect(outcomeOf(event)).toEqual([1, ['book']]);
      const { send, reports } = await open((transaction) => {
        transaction.exec('insert into children values (2)');
      });
      const other = await sendNew(send, 500);
      expectCause(reports.all[0], 'inbox_unavailable', 'FOREIGN KEY constraint failed');
      expect(outcomeOf(other)).toEqual([0, []]);
      // The connection is free again.
      expect((await (await open(() => {})).send(other)).status).toBe(200);
    });
  });
}
