import type { Pool } from 'pg';
import { createMemoryStore, type DeadLetter } from 'posthorn';
import { createPostgresInbox, type PostgresTransaction } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { Gate } from '../support/gate.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { type EndpointOptions, openEndpoint } from '../support/open-endpoint.ts';
import { until } from '../support/until.ts';
import { usePostgres } from './fixture.ts';
import { book, bookings, createLedger, recordsOf } from './ledger.ts';

const scope = 'commit-test';

/** What a text of a handler ends its transaction by, and whether that leaves rows behind. */
const endings = [
  { text: 'select 1; commit', commits: true },
  { text: 'select 1; commit; begin', commits: true },
  { text: 'select 1; END; start transaction; savepoint a; rollback to a', commits: true },
  { text: 'select 1; commit and chain', commits: true },
  { text: "select ';'; /* ; */ commit -- ;", commits: true },
  { text: 'select 1; commit; select 1 / 0', commits: true },
  { text: 'select 1; commit; begin; select 1 / 0', commits: true },
  { text: "select 1; commit; begin; insert into ledger values (repeat('x', 5)); commit", commits: true },
  { text: "select 1; prepare transaction 'prepared'", commits: true },
  { text: 'select 1; rollback', commits: false },
  { text: 'select 1; abort; begin', commits: false },
  { text: 'select 1; rollback and chain', commits: false },
  { text: 'select 1; rollback; select 1 / 0', commits: false },
  { text: 'do $$ begin perform 1 / 0; exception when others then end $$; rollback', commits: false },
];

/** All of these end the transaction by their first statement. */
const refused = [
  '/* x */ commit',
  '-- x\nrollback',
  '-- x\rcommit',
  '/**/ commit and chain',
  '/* a /* nested; */ -- */ commit */ /**/ end',
  ' ;\n; -- x\n ; /* y */ abort',
  'commit/* x */;select 1',
  'rollback /* to */ -- to\n;',
  'rollback; to',
  'rollback/**/work',
  "prepare /* x */ transaction 'x'",
  'start --\n transaction',
  '/**/ BEGIN',
];

/** Texts that leave the transaction alone, whatever they look like. Each goes on from the one before. */
const harmless: readonly (readonly string[])[] = [
  ['do $$ begin perform 1; end $$'],
  ["select '; commit; end', 1; select E'\\'; rollback' as \"; commit\""],
  [
    'create or replace function pg_temp.one() returns int language plpgsql as $f$ begin return 1; end $f$; select 1',
  ],
  ['create or replace function pg_temp.two() returns int begin atomic select 1; select 2; end; select 2'],
  ['select 1; begin; select case when true then 1 end'],
  ['prepare own as select 1; execute own; deallocate own'],
  ['savepoint a', '/* x */ rollback to a', '-- x\nrollback /* work */ work to savepoint a'],
  ['savepoint a; do $$ begin end $$', 'rollback to a'],
  [
    'savepoint a',
    'do $$ begin end $$; select 1',
    'rollback to a',
    'select 1; select case when true then 1 end',
  ],
  ['do $$ begin end $$; savepoint a; select case when true then 1 end', 'rollback to a', 'release a'],
  ['savepoint a', 'select 1 / 0', 'rollback to a; do $$ begin end $$; select 1'],
  ['savepoint a', 'do $$ begin perform 1 / 0; end $$; select 1', '/* x */ rollback to a'],
];

type Query = PostgresTransaction['query'];

/** Ways to write one text. */
const ways: Readonly<Record<string, (query: Query, text: string) => Promise<unknown>>> = {
  'a text': (query, text) => query(text),
  'a text and no values': (query, text) => query(text, []),
  'an object': (query, text) => query({ text }),
  'an object with a row mode': (query, text) => query({ text, values: [], rowMode: 'array' }),
  'an object of the extended protocol, or several': (query, text) =>
    query({ text, ...(text.includes(';') ? {} : { queryMode: 'extended' }) }),
};

describe('a handler of an inbox', () => {
  const fixture = usePostgres({ max_prepared_transactions: '20' });
  let pool: Pool;
  beforeAll(async () => {
    pool = fixture.connect();
    await createLedger(pool);
  });

  type Handle = (transaction: PostgresTransaction, id: string) => unknown;

  /** A receiver that remembers nothing, with one handler, which books first. */
  const open = (handle: Handle, options: EndpointOptions = {}) =>
    openEndpoint({ store: createMemoryStore(), ...options }, (receiver) => {
      receiver.on(
        'transfer.*',
        createPostgresInbox(pool, { scope }).once('book', async (event, { transaction }) => {
          await book(event, transaction);
          await handle(transaction, event.id);
        }),
      );
    });

  const rollBackPrepared = async (): Promise<void> => {
    const { rows } = await pool.query<{ gid: string }>('select gid from pg_prepared_xacts');
    for (const { gid } of rows) await pool.query(`rollback prepared '${gid}'`);
  };

  /** What a handler may do with the text: all that follows must not be written. */
  const handlers: Readonly<Record<string, (text: string) => Handle>> = {
    'lets the error out':
      (text) =>
      ({ query }) =>
        query(text),
    'swallows it':
      (text) =>
      ({ query }) =>
        query(text).catch(() => {}),
    'goes on':
      (text) =>
      async ({ query }) => {
        await query(text).catch(() => {});
        await query("insert into ledger values ('after')").catch(() => {});
      },
    'waits for nothing':
      (text) =>
      ({ query }) => {
        query(text).catch(() => {});
        query("insert into ledger values ('after')").catch(() => {});
      },
    'gives its own error':
      (text) =>
      async ({ query }) => {
        await query(text).catch(() => {});
        throw new Error('my own');
      },
  };

  describe.each(Object.entries(handlers))('that %s', (_name, handlerOf) => {
    test.each(endings)(
      'and has run $text is never taken to have handled the event',
      async ({ text, commits }) => {
        const handle = handlerOf(text);
        const event = createEvent('transfer.succeeded');
        const letters = new Map<string, DeadLetter>();
        const deadLetters = createMapDeadLetters(letters);
        const first = await open(handle, { deadLetters });
        const answer = await first.send(event);
        expect(await recordsOf(pool, event)).toEqual([]);
        if (!commits) {
          expect(answer).toMatchObject({ status: 500, body: { code: 'handler_failed' } });
          expect(await bookings(pool, event)).toBe(0);
        } else {
          expect(answer).toMatchObject({ status: 200, body: { outcome: 'parked' } });
          expect(letters.get(event.id)).toMatchObject({
            reason: 'handler_failed_permanently',
            message: expect.stringContaining('rows that it wrote may have been committed'),
            handled: [],
          });
        }
        await rollBackPrepared();
        // Where nobody remembers a thing: the retry, and a replay of the letter.
        const retry = await open(handle);
        expect(await retry.send(event)).toMatchObject({
          status: 500,
          body: { code: commits ? 'handler_failed_permanently' : 'handler_failed' },
        });
        await rollBackPrepared();
        for (const letter of letters.values()) {
          const { receiver } = await open(handle, { deadLetters });
          expect(await receiver.replay(letter)).toMatchObject({ handlers: [{ name: 'book', ok: false }] });
          await rollBackPrepared();
        }
        expect(letters.size).toBe(commits ? 1 : 0);
        expect([await recordsOf(pool, event), await bookings(pool, { id: 'after' })]).toEqual([[], 0]);
        // A handler that is put right handles it.
        expect(await (await open(() => {})).send(event)).toMatchObject({ body: { outcome: 'processed' } });
        expect(await recordsOf(pool, event)).toEqual(['book']);
      },
    );
  });

  describe.each(Object.entries(ways))('that gives %s', (_name, ask) => {
    test.each(refused)('is refused %j before it reaches PostgreSQL', async (text) => {
      const { send, reports } = await open(({ query }) => ask(query, text));
      const event = createEvent('transfer.succeeded');
      expect(await send(event)).toMatchObject({ status: 500, body: { code: 'handler_failed' } });
      expect(reports.all[0]?.error?.cause).toMatchObject({
        code: 'inbox_transaction_ended',
        message: expect.stringContaining('SAVEPOINT and ROLLBACK TO are free'),
      });
      expect([await bookings(pool, event), await recordsOf(pool, event)]).toEqual([0, []]);
    });

    test.each(['select 1; commit; begin', 'select 1; rollback'])('is found out by %j', async (text) => {
      const { send, reports } = await open(({ query }) => ask(query, text));
      const event = createEvent('transfer.succeeded');
      expect((await send(event)).status).toBe(500);
      expect(reports.all[0]?.error?.message).toContain('the handler has ended its transaction itself');
      expect(await recordsOf(pool, event)).toEqual([]);
    });

    test.each(harmless.map((texts) => [texts]))('runs %j', async (texts) => {
      let isBooked = true;
      const { send } = await open(async ({ query }, id) => {
        await query('savepoint whole');
        for (const text of texts) await ask(query, text).catch(() => {});
        isBooked = (await query('select from ledger where event_id = $1', [id])).rowCount === 1;
        await query('insert into ledger values ($1)', [id]);
      });
      const event = createEvent('transfer.succeeded');
      expect(await send(event)).toMatchObject({ status: 200, body: { outcome: 'processed' } });
      expect([isBooked, await bookings(pool, event), await recordsOf(pool, event)]).toEqual([
        true,
        2,
        ['book'],
      ]);
      const { send: sendAgain, reports } = await open(() => expect.unreachable());
      expect((await sendAgain(event)).status).toBe(200);
      expect(reports.all[0]?.handlers).toMatchObject([{ skipped: 'handled_before' }]);
    });
  });

  test('that commits in a transaction that had failed has its record taken back', async () => {
    const handle: Handle = async ({ query }) => {
      await query('savepoint a');
      await query('select 1 / 0').catch(() => {});
      await query('rollback to a; commit; begin');
    };
    const event = createEvent('transfer.succeeded');
    for (const count of [1, 2]) {
      const { send, reports } = await open(handle);
      expect(await send(event)).toMatchObject({
        status: 500,
        body: { code: 'handler_failed_permanently' },
      });
      expect(reports.all[0]?.error?.cause).toMatchObject({
        code: 'permanent',
        cause: { code: 'inbox_transaction_ended' },
      });
      expect([await bookings(pool, event), await recordsOf(pool, event)]).toEqual([count, []]);
    }
  });

  test('whose transaction was rolled back costs no other run its record', async () => {
    const event = createEvent('transfer.succeeded');
    const gate = new Gate();
    gate.shut();
    const first = await open(async ({ query }) => {
      await query('select 1; rollback').catch(() => {});
      await gate.pass();
      await query('select 1');
    });
    const running = first.send(event);
    await gate.held.nth(1);
    expect((await (await open(() => {})).send(event)).status).toBe(200);
    gate.open();
    expect(await running).toMatchObject({ status: 500, body: { code: 'handler_failed' } });
    expect([await bookings(pool, event), await recordsOf(pool, event)]).toEqual([1, ['book']]);
  });

  test('refuses callbacks, whose statements would end unseen', async () => {
    const text = 'select 1; commit; begin';
    const { send } = await open(async ({ query }) => {
      const callback = (): void => expect.unreachable();
      for (const statement of [[{ text, callback }], [text, callback]]) {
        await expect(Reflect.apply(query, undefined, statement)).rejects.toMatchObject({
          code: 'configuration_invalid',
          message: expect.stringContaining('no callback'),
        });
      }
    });
    const event = createEvent('transfer.succeeded');
    expect(await send(event)).toMatchObject({ status: 200, body: { outcome: 'processed' } });
    expect(await recordsOf(pool, event)).toEqual(['book']);
  });

  test('reads a text of a megabyte in no time', async () => {
    const comments = '/* x */ -- y\n;'.repeat(70_000);
    const { send, reports } = await open(({ query }) => query(`${comments} commit`));
    const startedAt = performance.now();
    expect((await send(createEvent('transfer.succeeded'))).status).toBe(500);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(reports.all[0]?.error?.cause).toMatchObject({ code: 'inbox_transaction_ended' });
  });

  test('looks once after a ROLLBACK TO, and at no other statement of its own', async () => {
    const sent: string[] = [];
    const counted = fixture.connect();
    counted.on('connect', (client) => {
      const query = client.query.bind(client);
      Reflect.set(client, 'query', (text: string, values: unknown[]) => {
        sent.push(text.trim().split(/[\s;]/, 1)[0] ?? '');
        return query(text, values);
      });
    });
    const { send } = await openEndpoint({}, (receiver) => {
      receiver.on(
        '*',
        createPostgresInbox(counted, { scope }).once('many', async (_event, { transaction: { query } }) => {
          await query('values (1); values (2)');
          await query('savepoint a');
          await query('rollback to a');
        }),
      );
    });
    expect((await send(createEvent('transfer.succeeded'))).status).toBe(200);
    expect(sent).toEqual(['begin', 'values', 'savepoint', 'rollback', 'select', 'commit']);
  });

  describe('that sleeps after its own COMMIT', () => {
    const text = 'select 1; commit; begin; select pg_sleep(62)';
    const committed = 'from pg_stat_activity where query = $1 and wait_event = $2';
    const untilItSleeps = (): Promise<void> =>
      until('it has committed, and sleeps', async () => {
        return (await pool.query(`select 1 ${committed}`, [text, 'PgSleep'])).rows.length === 1;
      });

    test('has no record that another run could find', async () => {
      const first = await open(({ query }) => query(text));
      const event = createEvent('transfer.succeeded');
      const running = first.send(event);
      await untilItSleeps();
      expect(await bookings(pool, event)).toBe(1);
      const second = await open(() => {});
      expect((await second.send(event)).status).toBe(200);
      expect(second.reports.all[0]?.handlers).toEqual([
        expect.not.objectContaining({ skipped: 'handled_before' }),
      ]);
      await pool.query(`select pg_terminate_backend(pid) ${committed}`, [text, 'PgSleep']);
      expect(await running).toMatchObject({ status: 500, body: { code: 'handler_failed_permanently' } });
      expect([await bookings(pool, event), await recordsOf(pool, event)]).toEqual([2, ['book']]);
    });

    test('has none after a crash of the server either', async () => {
      const first = await open(({ query }) => query(text));
      const event = createEvent('transfer.succeeded');
      const running = first.send(event);
      await untilItSleeps();
      await fixture.postgres.stop('kill');
      expect((await running).status).toBe(500);
      await fixture.postgres.restart();
      expect([await bookings(pool, event), await recordsOf(pool, event)]).toEqual([1, []]);
      const retry = await open(() => {});
      expect((await retry.send(event)).status).toBe(200);
      expect(retry.reports.all[0]?.handlers).toEqual([
        expect.not.objectContaining({ skipped: 'handled_before' }),
      ]);
    });
  });

  test('has no record after it has committed behind ROLLBACK TO, though savepoints came before', async () => {
    const { send, reports } = await open(async ({ query }) => {
      await query('do $$ begin perform 1; end $$');
      await query('savepoint a');
      await query('rollback to a');
      await query('savepoint b');
      await query('select 1 / 0').catch(() => {});
      await query('rollback to b; commit; begin').catch(() => {});
    });
    const event = createEvent('transfer.succeeded');
    for (const status of [500, 500]) expect((await send(event)).status).toBe(status);
    expect(reports.all.map(({ code }) => code)).toEqual(Array(2).fill('handler_failed_permanently'));
    expect(await recordsOf(pool, event)).toEqual([]);
  });

  test('keeps other runs waiting while its record is withheld', async () => {
    const gate = new Gate();
    gate.shut();
    const first = await open(async ({ query }) => {
      await query('do $$ begin perform 1; end $$');
      await gate.pass();
      await query('do $$ begin perform 1; end $$');
    });
    const event = createEvent('transfer.succeeded');
    const running = first.send(event);
    await gate.held.nth(1);
    const second = await open(() => expect.unreachable());
    const waiting = second.send(event);
    const blocked = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%record_ranked%'`;
    await until('the other run waits', async () => (await pool.query(blocked)).rows.length > 0);
    gate.open();
    expect([(await running).status, (await waiting).status]).toEqual([200, 200]);
    expect(second.reports.all[0]?.handlers).toMatchObject([{ skipped: 'handled_before' }]);
    expect([await bookings(pool, event), await recordsOf(pool, event)]).toEqual([1, ['book']]);
  });
});
