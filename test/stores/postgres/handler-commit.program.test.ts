import { createPostgresInbox } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { shutGate } from '../../support/gate.ts';
import { ampleDeadlines } from '../../support/limits.ts';
import { openEndpoint } from '../../support/open-endpoint.ts';
import { ownParsers, useDatabase } from './fixture.ts';
import { COMMITS_AND_SLEEPS, testTexts, useReceivers } from './handler-commit.ts';
import { bookings, type Handle, openBook, recordsOf, tracesOf, untilOneWaits } from './ledger.ts';
import { firstWord, sentBy } from './watched-pool.ts';

describe('a handler of an inbox', () => {
  const fixture = useDatabase();
  const receivers = useReceivers(fixture, ownParsers);
  const { open } = receivers;

  // Every handler with every text: handler-commit.storm.test.ts.
  testTexts(receivers, 'in turn');

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
      expect(await tracesOf(receivers.pool, event)).toEqual([count, []]);
    }
  });

  test('whose transaction was rolled back costs no other run its record', async () => {
    const event = createEvent('transfer.succeeded');
    const gate = shutGate();
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
    expect(await tracesOf(receivers.pool, event)).toEqual([1, ['book']]);
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
    expect(await recordsOf(receivers.pool, event)).toEqual(['book']);
  });

  test('reads a text of a megabyte in no time', async () => {
    const comments = '/* x */ -- y\n;'.repeat(70_000);
    const { send, reports } = await open(({ query }) => query(`${comments} commit`));
    const startedAt = performance.now();
    expect((await send(createEvent('transfer.succeeded'))).status).toBe(500);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(reports.all[0]?.error?.cause).toMatchObject({ code: 'inbox_transaction_ended' });
  });

  test.each([
    { text: 'commit', code: 'handler_failed_permanently', rows: 1 },
    { text: 'rollback', code: 'handler_failed', rows: 0 },
  ])(
    'that runs a $text which the application has prepared by a name has no record',
    async ({ text, code, rows }) => {
      const own = fixture.connect({ max: 1 });
      await own.query({ name: 'finish', text });
      const event = createEvent('transfer.succeeded');
      const inbox = createPostgresInbox(own, { scope: 'commit-test' });
      // Without a text, `pg` runs what was prepared by that name on the connection.
      const { send } = await openBook(inbox, ({ query }) => query({ name: 'finish', text: '' }));
      expect(await send(event)).toMatchObject({ status: 500, body: { code } });
      expect(await tracesOf(receivers.pool, event)).toEqual([rows, []]);
    },
  );

  test('lets no COMMIT through behind any character that PostgreSQL may skip', async () => {
    const skippable = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter(
      (character) => /[\s\p{Cc}\p{Cf}\p{Z};]/u.test(character) && character !== '\0',
    );
    const { send } = await open(async ({ query }) => {
      await query('savepoint a');
      for (const character of skippable) {
        for (const start of [character, ` ${character}`]) {
          await query(`${start}commit`).catch(() => {});
          await query('rollback to a');
        }
      }
    });
    const event = createEvent('transfer.succeeded');
    expect((await send(event)).status).toBe(200);
    expect(await tracesOf(receivers.pool, event)).toEqual([1, ['book']]);
  });

  test('looks once after a ROLLBACK TO, and at no other statement of its own', async () => {
    const counted = fixture.connect();
    const sent = sentBy(counted);
    const { send } = await openEndpoint(ampleDeadlines, (receiver) => {
      receiver.on(
        '*',
        createPostgresInbox(counted, { scope: 'commit-test' }).once(
          'many',
          async (_event, { transaction: { query } }) => {
            await query('values (1); values (2)');
            await query('savepoint a');
            await query('rollback to a');
          },
        ),
      );
    });
    expect((await send(createEvent('transfer.succeeded'))).status).toBe(200);
    expect(sent.map(firstWord)).toEqual(['begin', 'values', 'savepoint', 'rollback', 'select', 'commit']);
  });

  test('that sleeps after its own COMMIT has no record that another run could find', async () => {
    const { pool, untilItSleeps } = receivers;
    const first = await open(({ query }) => query(COMMITS_AND_SLEEPS));
    const event = createEvent('transfer.succeeded');
    const running = first.send(event);
    await untilItSleeps();
    expect(await bookings(pool, event)).toBe(1);
    const second = await open(() => {});
    expect((await second.send(event)).status).toBe(200);
    expect(second.reports.all[0]?.handlers).toEqual([
      expect.not.objectContaining({ skipped: 'handled_before' }),
    ]);
    await pool.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where query = $1 and datname = current_database()',
      [COMMITS_AND_SLEEPS],
    );
    expect(await running).toMatchObject({ status: 500, body: { code: 'handler_failed_permanently' } });
    expect(await tracesOf(pool, event)).toEqual([2, ['book']]);
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
    expect(await recordsOf(receivers.pool, event)).toEqual([]);
  });

  test('keeps other runs waiting while its record is withheld', async () => {
    const gate = shutGate();
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
    await untilOneWaits(receivers.pool, 'record_ranked');
    gate.open();
    expect([(await running).status, (await waiting).status]).toEqual([200, 200]);
    expect(second.reports.all[0]?.handlers).toMatchObject([{ skipped: 'handled_before' }]);
    expect(await tracesOf(receivers.pool, event)).toEqual([1, ['book']]);
  });
});
