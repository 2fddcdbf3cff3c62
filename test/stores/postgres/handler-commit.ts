import type { Pool, PoolConfig } from 'pg';
import { createMemoryStore, type DeadLetter } from 'posthorn';
import { createPostgresInbox, type PostgresTransaction } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import type { Endpoint, EndpointOptions } from '../../support/open-endpoint.ts';
import { until } from '../../support/until.ts';
import type { DatabaseFixture } from './fixture.ts';
import { bookings, type Handle, openBook, recordsOf, tracesOf, useLedger } from './ledger.ts';

// A handler that ends the transaction of its inbox by an SQL text, in the middle of it or not.

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

/** What a handler sends: a text that commits in its middle, and sleeps then. */
export const COMMITS_AND_SLEEPS = 'select 1; commit; begin; select pg_sleep(62)';

export interface Receivers {
  readonly pool: Pool;
  /** A receiver that remembers nothing, with one handler, which books first. */
  readonly open: (handle: Handle, options?: EndpointOptions) => Promise<Endpoint>;
  /** Resolves once a handler sleeps after its commit. */
  readonly untilItSleeps: () => Promise<void>;
}

/** Makes the ledger before the tests. */
export function useReceivers(fixture: DatabaseFixture, settings: PoolConfig = {}): Receivers {
  const ledger = useLedger(fixture, settings);
  return {
    get pool() {
      return ledger.pool;
    },
    open: (handle, options = {}) =>
      openBook(createPostgresInbox(ledger.pool, { scope: 'commit-test' }), handle, {
        store: createMemoryStore(),
        ...options,
      }),
    untilItSleeps: () =>
      until('it has committed, and sleeps', async () => {
        const sleeping =
          'select from pg_stat_activity where query = $1 and wait_event = $2 and datname = current_database()';
        return (await ledger.pool.query(sleeping, [COMMITS_AND_SLEEPS, 'PgSleep'])).rowCount === 1;
      }),
  };
}

/**
 * The tests of each text: with every handler and in every way to write it, or with one and in one, in turn,
 * so that each of those comes as well.
 */
export function testTexts(receivers: Receivers, combinations: 'all' | 'in turn'): void {
  const { open } = receivers;
  /** The part of a list that one of so many handlers or ways has. */
  const partOf = <T>(list: readonly T[], place: number, count: number): readonly T[] =>
    list.filter((_, index) => combinations === 'all' || index % count === place);

  const rollBackPrepared = async (): Promise<void> => {
    const { pool } = receivers;
    const found = await pool.query('select from pg_prepared_xacts where database = current_database()');
    if (found.rowCount === 1) await pool.query("rollback prepared 'prepared'");
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

  const ofHandlers = Object.entries(handlers);
  describe.each(ofHandlers)('that %s', (name, handlerOf) => {
    const place = ofHandlers.findIndex(([other]) => other === name);
    test.each(partOf(endings, place, ofHandlers.length))(
      'and has run $text is never taken to have handled the event',
      async ({ text, commits }) => {
        const handle = handlerOf(text);
        const event = createEvent('transfer.succeeded');
        const letters = new Map<string, DeadLetter>();
        const deadLetters = createMapDeadLetters(letters);
        const first = await open(handle, { deadLetters });
        const answer = await first.send(event);
        expect(await recordsOf(receivers.pool, event)).toEqual([]);
        if (!commits) {
          expect(answer).toMatchObject({ status: 500, body: { code: 'handler_failed' } });
          expect(await bookings(receivers.pool, event)).toBe(0);
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
        expect([
          await recordsOf(receivers.pool, event),
          await bookings(receivers.pool, { id: 'after' }),
        ]).toEqual([[], 0]);
        // A handler that is put right handles it.
        expect(await (await open(() => {})).send(event)).toMatchObject({ body: { outcome: 'processed' } });
        expect(await recordsOf(receivers.pool, event)).toEqual(['book']);
      },
    );
  });

  const ofWays = Object.entries(ways);
  describe.each(ofWays)('that gives %s', (name, ask) => {
    const place = ofWays.findIndex(([other]) => other === name);
    const own = <T>(texts: readonly T[]): readonly T[] => partOf(texts, place, ofWays.length);

    test.each(own(refused))('is refused %j before it reaches PostgreSQL', async (text) => {
      const { send, reports } = await open(({ query }) => ask(query, text));
      const event = createEvent('transfer.succeeded');
      expect(await send(event)).toMatchObject({ status: 500, body: { code: 'handler_failed' } });
      expect(reports.all[0]?.error?.cause).toMatchObject({
        code: 'inbox_transaction_ended',
        message: expect.stringContaining('SAVEPOINT and ROLLBACK TO are free'),
      });
      expect(await tracesOf(receivers.pool, event)).toEqual([0, []]);
    });

    test.each(own(['select 1; commit; begin', 'select 1; rollback']))('is found out by %j', async (text) => {
      const { send, reports } = await open(({ query }) => ask(query, text));
      const event = createEvent('transfer.succeeded');
      expect((await send(event)).status).toBe(500);
      expect(reports.all[0]?.error?.message).toContain('the handler has ended its transaction itself');
      expect(await recordsOf(receivers.pool, event)).toEqual([]);
    });

    test.each(own(harmless).map((texts) => [texts]))('runs %j', async (texts) => {
      let isBooked = true;
      const { send } = await open(async ({ query }, id) => {
        await query('savepoint whole');
        for (const text of texts) await ask(query, text).catch(() => {});
        isBooked = (await query('select from ledger where event_id = $1', [id])).rowCount === 1;
        await query('insert into ledger values ($1)', [id]);
      });
      const event = createEvent('transfer.succeeded');
      expect(await send(event)).toMatchObject({ status: 200, body: { outcome: 'processed' } });
      expect([
        isBooked,
        await bookings(receivers.pool, event),
        await recordsOf(receivers.pool, event),
      ]).toEqual([true, 2, ['book']]);
      const { send: sendAgain, reports } = await open(() => expect.unreachable());
      expect((await sendAgain(event)).status).toBe(200);
      expect(reports.all[0]?.handlers).toMatchObject([{ skipped: 'handled_before' }]);
    });
  });
}
