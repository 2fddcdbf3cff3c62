import { type ConfigurationError, createReceiver, PermanentError } from 'posthorn';
import { createPostgresInbox, type PostgresInbox, type PostgresTransaction } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { errorOf, expectCause } from '../../support/error-of.ts';
import { ampleDeadlines } from '../../support/limits.ts';
import { openEndpoint, sendNew } from '../../support/open-endpoint.ts';
import { KEY } from '../../support/served.ts';
import { throwing } from '../../support/throwing.ts';
import { ownParsers, useDatabase } from './fixture.ts';
import { book, bookings, createLedger, recordsOf, tracesOf } from './ledger.ts';
import { firstWord, sentBy } from './watched-pool.ts';

const scope = 'inbox-test';

describe.each([
  { name: 'an inbox', settings: {} },
  { name: 'an inbox of a pool that has parsers of its own', settings: ownParsers },
])('$name', ({ settings }) => {
  const fixture = useDatabase();
  const pool = fixture.connect(settings);
  beforeAll(() => createLedger(pool));

  type Handle = (transaction: PostgresTransaction, id: string) => unknown;

  /** A receiver with a store of its own, which has forgotten everything, and one handler. */
  function open(handle: Handle, inbox: PostgresInbox = createPostgresInbox(pool, { scope })) {
    return openEndpoint(ampleDeadlines, (receiver) => {
      receiver.on(
        'transfer.*',
        inbox.once('book', async (event, { transaction }) => {
          await book(event, transaction);
          return handle(transaction, event.id);
        }),
      );
    });
  }

  test('commits the record of the event with what the handler writes', async () => {
    const { send, reports } = await open(() => {});
    const event = createEvent('transfer.succeeded');
    expect(await send(event)).toMatchObject({ status: 200, body: { outcome: 'processed' } });
    expect(await bookings(pool, event)).toBe(1);
    expect(await recordsOf(pool, event)).toEqual(['book']);
    expect(reports.all[0]?.handlers).toEqual([{ name: 'book', ok: true, durationMs: expect.any(Number) }]);
  });

  test('runs nothing for an event that it has handled, whatever the store has forgotten', async () => {
    const event = createEvent('transfer.succeeded');
    await (await open(() => {})).send(event);
    const { send, reports } = await open(() => expect.unreachable());
    expect(await send(event)).toMatchObject({ status: 200, body: { outcome: 'processed' } });
    expect(await bookings(pool, event)).toBe(1);
    expect(reports.all[0]?.handlers).toMatchObject([{ name: 'book', ok: true, skipped: 'handled_before' }]);
  });

  test('leaves no row of a handler that fails after its insert', async () => {
    const { send, reports } = await open(throwing('after the insert'));
    const event = createEvent('transfer.succeeded');
    expect(await send(event)).toMatchObject({ status: 500, body: { code: 'handler_failed' } });
    expect(reports.all[0]?.error?.cause).toMatchObject({ message: 'after the insert' });
    expect(await tracesOf(pool, event)).toEqual([0, []]);
    expect((await (await open(() => {})).send(event)).status).toBe(200);
    expect(await bookings(pool, event)).toBe(1);
  });

  test('lets a PermanentError through, and rolls back', async () => {
    const { send } = await open(throwing(new PermanentError('no retry can help')));
    const event = createEvent('transfer.succeeded');
    expect(await send(event)).toMatchObject({ status: 500, body: { code: 'handler_failed_permanently' } });
    expect(await bookings(pool, event)).toBe(0);
  });

  test('fails an attempt whose handler swallows an SQL error', async () => {
    const { send, reports } = await open(async (transaction) => {
      await transaction.query('select 1 / 0').catch(() => {});
    });
    const event = await sendNew(send, 500);
    expect(reports.all[0]?.error?.cause).toMatchObject({
      name: 'InboxError',
      code: 'inbox_rolled_back',
      message: expect.stringContaining('an SQL error was swallowed'),
      cause: expect.objectContaining({ message: 'division by zero' }),
    });
    expect(await tracesOf(pool, event)).toEqual([0, []]);
  });

  test('rolls back if the handler returns a generator: its work has not begun', async () => {
    const { send, reports } = await open(() => [].values());
    const event = await sendNew(send, 500);
    expectCause(reports.all[0], 'configuration_invalid', 'until somebody iterates it');
    expect(await tracesOf(pool, event)).toEqual([0, []]);
  });

  test('commits after an error that was rolled back to a savepoint', async () => {
    const { send } = await open(async (transaction) => {
      await transaction.query('savepoint mine');
      await transaction.query('select 1 / 0').catch(() => transaction.query('rollback to mine'));
    });
    const event = await sendNew(send, 200);
    expect(await tracesOf(pool, event)).toEqual([1, ['book']]);
  });

  test.each([['commit'], [' ; COMMIT'], ['begin'], ['end'], ['rollback'], ['abort'], ['start transaction']])(
    'refuses %j from a handler before it reaches PostgreSQL',
    async (statement) => {
      const { send, reports } = await open((transaction) => transaction.query(statement));
      const event = await sendNew(send, 500);
      expect(reports.all[0]?.error?.cause).toMatchObject({ code: 'inbox_transaction_ended' });
      expect(await tracesOf(pool, event)).toEqual([0, []]);
    },
  );

  test.each(['select 1; rollback', 'select 1; rollback; begin', '/* mine */ rollback'])(
    'fails an attempt whose handler has ended its transaction by %j',
    async (statement) => {
      const { send, reports } = await open((transaction) => transaction.query(statement));
      const event = await sendNew(send, 500);
      expectCause(reports.all[0], 'inbox_transaction_ended', 'has ended its transaction itself');
      expect(await recordsOf(pool, event)).toEqual([]);
    },
  );

  test('refuses a query after the end of the handler, which never reaches the client', async () => {
    let kept: PostgresTransaction | undefined;
    const { send } = await open((transaction) => {
      kept = transaction;
    });
    const event = createEvent('transfer.succeeded');
    await send(event);
    await expect(kept?.query('insert into ledger values ($1)', [event.id])).rejects.toMatchObject(
      errorOf('inbox_transaction_ended', 'await every query'),
    );
    expect(await bookings(pool, event)).toBe(1);
  });

  test('commits queries that a handler does not await, and fails with theirs', async () => {
    const { send } = await open((transaction, id) => {
      void transaction.query('select pg_sleep(0.05)');
      void transaction.query('insert into ledger values ($1)', [id]);
    });
    const event = await sendNew(send, 200);
    expect(await bookings(pool, event)).toBe(2);

    const failing = await open((transaction) => {
      transaction.query('select pg_sleep(0.05)').catch(() => {});
      transaction.query('select 1 / 0').catch(() => {});
    });
    const other = await sendNew(failing.send, 500);
    expect(failing.reports.all[0]?.error?.cause).toMatchObject({ code: 'inbox_rolled_back' });
    expect(await bookings(pool, other)).toBe(0);
  });

  test('runs queries that are given at once one after the other', async () => {
    const { send } = await open(async ({ query }) => {
      const results = await Promise.all([1, 2, 3].map((n) => query('select $1::int as n', [n])));
      expect(results.map(({ rows }) => rows[0])).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    });
    expect((await send(createEvent('transfer.succeeded'))).status).toBe(200);
  });

  test('takes objects as pg does, and no cursors', async () => {
    const { send } = await open(async ({ query }) => {
      expect((await query({ text: 'select $1::int as a', values: [2], rowMode: 'array' })).rows).toEqual([
        [2],
      ]);
      await expect(query(Object({ text: 'select 1', submit: () => {} }))).rejects.toMatchObject({
        code: 'configuration_invalid',
      });
    });
    expect((await send(createEvent('transfer.succeeded'))).status).toBe(200);
  });

  describe.each(['40001', '40P01'])('after %s', (state) => {
    const raise = `do $$ begin raise sqlstate '${state}'; end $$`;

    test('runs the whole transaction again', async () => {
      let runs = 0;
      const { send, reports } = await open(async (transaction) => {
        runs += 1;
        if (runs < 4) await transaction.query(raise);
      });
      const event = await sendNew(send, 200);
      expect([runs, await bookings(pool, event)]).toEqual([4, 1]);
      expect(reports.all[0]?.attempt).toBe(1);
    });

    test('also where the handler swallows it', async () => {
      let runs = 0;
      const { send } = await open(async (transaction) => {
        runs += 1;
        if (runs < 2) await transaction.query(raise).catch(() => {});
      });
      expect((await send(createEvent('transfer.succeeded'))).status).toBe(200);
      expect(runs).toBe(2);
    });

    test('fails the attempt in the end', async () => {
      let runs = 0;
      const { send, reports } = await open(async (transaction) => {
        runs += 1;
        await transaction.query(raise);
      });
      expect((await send(createEvent('transfer.succeeded'))).status).toBe(500);
      expect(runs).toBe(4);
      expect(reports.all[0]?.error?.cause).toMatchObject({ code: state });
    });
  });

  test('looks through few causes of what a handler throws, which may be its own cause', async () => {
    let reads = 0;
    const error = Object.defineProperty(new Error('round'), 'cause', {
      get: () => {
        reads += 1;
        // An end for code that has none: it would block all tests for ever.
        return reads < 10_000 ? error : undefined;
      },
    });
    const { send, reports } = await open(() => {
      throw error;
    });
    expect(await send(createEvent('transfer.succeeded'))).toMatchObject({ status: 500 });
    expect(reports.all[0]?.error?.cause).toBe(error);
    expect(reads).toBeLessThan(100);
  });

  test('two handlers that lock each other out both come through', async () => {
    await pool.query('create table accounts (id integer primary key, balance integer)');
    await pool.query('insert into accounts values (1, 0), (2, 0)');
    const inbox = createPostgresInbox(pool, { scope });
    const { send } = await openEndpoint(ampleDeadlines, (receiver) => {
      for (const order of [
        [1, 2],
        [2, 1],
      ]) {
        receiver.on(
          'transfer.*',
          inbox.once(`from ${order[0]}`, async (_event, { transaction: { query } }) => {
            for (const id of order) {
              await query('update accounts set balance = balance + 1 where id = $1', [id]);
              await query('select pg_sleep(0.1)');
            }
          }),
        );
      }
    });
    expect((await send(createEvent('transfer.succeeded'))).status).toBe(200);
    const { rows } = await pool.query('select balance from accounts');
    expect(rows).toEqual([{ balance: 2 }, { balance: 2 }]);
  });

  test('refuses at COMMIT what a deferred constraint refuses', async () => {
    await pool.query(
      'create table deferred (id integer, constraint one unique (id) deferrable initially deferred)',
    );
    const { send, reports } = await open(async ({ query }) => {
      await query('insert into deferred values (1), (1)');
    });
    const event = await sendNew(send, 500);
    expect(reports.all[0]?.error?.cause).toMatchObject({ code: '23505' });
    expect(await tracesOf(pool, event)).toEqual([0, []]);
  });

  test('runs the whole transaction again after a serialization failure at COMMIT', async () => {
    // What a sequence has counted stays counted when its transaction is rolled back.
    await pool.query(`
      create table conflicting (id text);
      create sequence commits;
      create function refuse_twice() returns trigger language plpgsql as $function$ begin
        if nextval('commits') <= 2 then raise sqlstate '40001'; end if;
        return null;
      end $function$;
      create constraint trigger refuse_twice after insert on conflicting
      deferrable initially deferred for each row execute function refuse_twice()`);
    let runs = 0;
    const { send, reports } = await open(async ({ query }, id) => {
      runs += 1;
      await query('insert into conflicting values ($1)', [id]);
    });
    const event = await sendNew(send, 200);
    expect([runs, await bookings(pool, event), await recordsOf(pool, event)]).toEqual([3, 1, ['book']]);
    expect(await fixture.sql('select id from conflicting')).toBe(event.id);
    expect(reports.all[0]?.attempt).toBe(1);
  });

  test('leaves the settings of the session to the handler, but for the idle limit', async () => {
    // The handler reads texts.
    const own = fixture.connect({ options: '-c lock_timeout=7s', max: 1 });
    await own.query('set lock_timeout = 4321');
    const seen: unknown[] = [];
    const { send } = await open(
      async ({ query }) => {
        const { rows } = await query(`select current_setting('lock_timeout') as locks,
        current_setting('idle_in_transaction_session_timeout') as idle`);
        seen.push(rows[0]);
      },
      createPostgresInbox(own, { scope }),
    );
    expect((await send(createEvent('transfer.succeeded'))).status).toBe(200);
    expect(seen).toEqual([{ locks: '4321ms', idle: `${ampleDeadlines.deadlineMs / 1_000}s` }]);
    const { rows } = await own.query('show idle_in_transaction_session_timeout');
    expect(rows).toEqual([{ idle_in_transaction_session_timeout: '0' }]);
  });

  test('records the event in the message that begins', async () => {
    const counted = fixture.connect();
    const sent = sentBy(counted);
    const { send } = await open(() => {}, createPostgresInbox(counted, { scope }));
    await send(createEvent('transfer.succeeded'));
    expect(sent.map(firstWord)).toEqual(['begin', 'insert', 'commit']);
  });

  test('keeps ids apart that a column of text cannot hold, or an index', async () => {
    const long = 'x'.repeat(10_000);
    const quoted = [`'); drop table ledger; --`, `\\'); select 1/0; --`, '$1', '\n', '\u{1f600}é'];
    for (const id of ['a\0b', 'a\0c', `${long}1`, `${long}2`, ...quoted]) {
      const event = { ...createEvent('transfer.succeeded'), id };
      const runs: string[] = [];
      const inbox = createPostgresInbox(pool, { scope });
      const { send } = await openEndpoint(ampleDeadlines, (receiver) => {
        receiver.on(
          '*',
          inbox.once('note', (seen) => void runs.push(seen.id)),
        );
      });
      expect((await send(event)).status).toBe(200);
      expect(runs).toEqual([id]);
      if (quoted.includes(id)) expect(await recordsOf(pool, event)).toEqual(['note']);
    }
  });

  test('gives its name to on, where an ordinary function has none', () => {
    const inbox = createPostgresInbox(pool, { scope });
    const handler = inbox.once('book', () => {});
    const receiver = createReceiver({ signingKey: KEY }).on('transfer.created', handler);
    expect(() => receiver.on('transfer.failed', handler)).toThrow('the handler name "book" is taken');
    function named(): void {}
    receiver.on('transfer.created', named).on('transfer.failed', named);
  });

  test('refuses wrong arguments', () => {
    const inbox = createPostgresInbox(pool, { scope });
    const thrown = (call: () => unknown): string => {
      try {
        call();
      } catch (error) {
        return (error as ConfigurationError).message;
      }
      return 'nothing';
    };
    for (const name of ['', 'x'.repeat(101), 'a\0b', '\ud800']) {
      expect(thrown(() => inbox.once(name, () => {}))).toContain('1 to 100 characters');
    }
    expect(thrown(() => Reflect.apply(inbox.once, inbox, ['a', 'no function']))).toContain(
      'must be a function',
    );
    expect(thrown(() => inbox.once('b', () => {}, Object({ newest: 1 })))).toContain(
      '"newest" is not an option',
    );
    expect(thrown(() => createPostgresInbox(pool, { scope: '' }))).toContain('scope of createPostgresInbox');
    expect(thrown(() => createPostgresInbox(Object({}), { scope }))).toContain('takes a pool of pg 8');
    expect(thrown(() => createPostgresInbox(pool, Object({ scope, begin: 1 })))).toContain(
      'must be a function',
    );
  });

  test('says how to make the tables where they are missing', async () => {
    const inbox = createPostgresInbox(pool, { scope, schema: 'elsewhere' });
    const { send, reports } = await open(() => {}, inbox);
    expect((await send(createEvent('transfer.succeeded'))).status).toBe(500);
    expectCause(
      reports.all[0],
      'configuration_invalid',
      `run migratePostgres(pool, { schema: 'elsewhere' })`,
    );
  });

  test('prunes what is old, of its scope only', async () => {
    const inbox = createPostgresInbox(pool, { scope: 'pruned' });
    await pool.query(`insert into posthorn.inbox
      select scope, 'evt_' || n, 'book', now() - (n % 2) * interval '2 days'
      from generate_series(1, 12000) n, unnest(array['pruned', 'other']) scope`);
    expect(await inbox.prune({ olderThanMs: 86_400_000 })).toBe(6_000);
    expect(await inbox.prune({ olderThanMs: 86_400_000 })).toBe(0);
    const counts = `select scope, count(*) from posthorn.inbox
      where scope in ('pruned', 'other') group by scope order by scope`;
    expect(await fixture.sql(counts)).toBe('other|12000\npruned|6000');
    await expect(inbox.prune({ olderThanMs: -1 })).rejects.toThrow('olderThanMs');
  });
});
