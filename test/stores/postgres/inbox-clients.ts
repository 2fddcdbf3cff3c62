import type { Pool } from 'pg';
import type { DeadLetter } from 'posthorn';
import { type BeginTransaction, createPostgresInbox } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { fakeTime, passUntil } from '../../support/fake-time.ts';
import { type Gate, shutGate } from '../../support/gate.ts';
import { ampleDeadlines } from '../../support/limits.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { type EndpointOptions, openEndpoint, sendNew } from '../../support/open-endpoint.ts';
import { Seen } from '../../support/seen.ts';
import { throwing } from '../../support/throwing.ts';
import { until } from '../../support/until.ts';
import { rerunBook } from '../kit/inbox/rerun-cases.ts';
import { isInboxError } from './inbox-failure.ts';
import { holdRun, rerunsOf, tracesOf } from './ledger.ts';

/** A client whose transactions an inbox takes by `begin`. */
export interface Client<Tx> {
  readonly begin: BeginTransaction<Tx>;
  /** Runs SQL without parameters in a transaction, as a handler would. */
  readonly run: (tx: Tx, statement: string) => Promise<unknown>;
}

/** Delivers an event whose handler waits at a gate, which is opened once the deadline has passed. */
export async function outliveDeadline(
  { receive, reports }: Pick<Awaited<ReturnType<typeof openEndpoint>>, 'receive' | 'reports'>,
  event: ReturnType<typeof createEvent>,
  gate: Gate,
): Promise<void> {
  const pass = fakeTime();
  const answer = receive(event);
  await gate.held.nth(1);
  expect(await passUntil(pass, answer)).toMatchObject({ status: 503, body: { code: 'deadline_reached' } });
  gate.open();
  expect(await reports.first(({ late }) => late)).toMatchObject({
    outcome: 'processed',
    handlers: [{ ok: true }],
  });
}

/** Statements that make the COMMIT of their transaction fail with a serialization failure. */
const REFUSES_COMMIT = [
  'create temporary table conflicts (run integer) on commit drop',
  `create function pg_temp.refuse() returns trigger language plpgsql
    as $$ begin raise sqlstate '40001'; end $$`,
  `create constraint trigger refuse after insert on conflicts deferrable initially deferred
    for each row execute function pg_temp.refuse()`,
  'insert into conflicts values (1)',
];

/** Which tests run: those that every client has to prove, all that wait for no deadline, or all. */
export type Part = 'the least' | 'without deadlines' | 'all';

/** The tests of `begin`, for each client. `of` makes one whose connections are those of a pool. */
export function testClient<Tx>(
  fixture: { readonly pool: Pool },
  of: (pool: Pool) => Client<Tx>,
  part: Part = 'all',
): void {
  type Handle = (tx: Tx, run: (statement: string) => Promise<unknown>) => unknown;

  async function open(handle: Handle = () => {}, options: EndpointOptions = {}) {
    const { pool } = fixture;
    const client = of(pool);
    const { run } = client;
    /** One entry for each transaction that has ended. */
    const ended = new Seen<true>();
    const begin: BeginTransaction<Tx> = (work) => client.begin(work).finally(() => ended.add(true));
    const inbox = createPostgresInbox(pool, { scope: 'begin-test', begin });
    const endpoint = await openEndpoint({ ...ampleDeadlines, ...options }, (receiver) => {
      receiver.on(
        'transfer.*',
        inbox.once(
          'book',
          async ({ id }, { transaction }) => {
            await run(transaction, `insert into ledger values ('${id}', 1250)`);
            await handle(transaction, (statement) => run(transaction, statement));
          },
          { latest: ({ data }) => data.id },
        ),
      );
    });
    return { ...endpoint, ended };
  }

  const end = async (event: { readonly id: string }) => await tracesOf(fixture.pool, event);

  test('commits the record of the event with what the handler writes, once', async () => {
    const event = createEvent('transfer.succeeded');
    expect((await (await open()).send(event)).status).toBe(200);
    const { send, reports } = await open(() => expect.unreachable());
    expect((await send(event)).status).toBe(200);
    expect(reports.all[0]?.handlers).toMatchObject([{ skipped: 'handled_before' }]);
    expect(await end(event)).toEqual([1, ['book']]);
  });

  test('leaves no row of a handler that fails', async () => {
    const { send, reports } = await open(throwing('no'));
    const event = await sendNew(send, 500);
    expect(reports.all[0]?.error?.cause).toMatchObject({ message: 'no' });
    expect(await end(event)).toEqual([0, []]);
  });

  test('fails an attempt whose handler swallows an SQL error', async () => {
    const { send, reports } = await open((_tx, run) => run('select 1 / 0').catch(() => {}));
    const event = await sendNew(send, 500);
    expect(reports.all[0]?.error?.cause).toMatchObject({
      code: 'inbox_rolled_back',
      message: expect.stringContaining('an SQL error was swallowed'),
    });
    expect(await end(event)).toEqual([0, []]);
  });

  test('lets a handler that has begun outlive the deadline of its delivery', async () => {
    const gate = shutGate();
    let runs = 0;
    const { receive, reports } = await open(
      async () => {
        runs += 1;
        await gate.pass();
      },
      { deadlineMs: 5_000 },
    );
    const event = createEvent('transfer.succeeded');
    await outliveDeadline({ receive, reports }, event, gate);
    expect(await receive(event)).toMatchObject({ status: 200, body: { outcome: 'duplicate' } });
    expect([runs, ...(await end(event))]).toEqual([1, 1, ['book']]);
  });

  test('runs a handler once more, once under a name', async () => {
    const event = createEvent('transfer.succeeded');
    await (await open()).send(event);
    const rerun = async (handle?: Handle) => rerunBook(await open(handle), event, 'fix');
    expect(await rerun(throwing('no'))).toMatchObject({ outcome: 'failed' });
    expect(await rerunsOf(fixture.pool, event)).toEqual([]);
    expect(await rerun()).toMatchObject({ outcome: 'processed' });
    expect(await rerun(() => expect.unreachable())).toMatchObject({ outcome: 'duplicate' });
    expect([...(await end(event)), await rerunsOf(fixture.pool, event)]).toEqual([2, ['book'], ['fix']]);
  });

  test.each([
    { state: '40001', statements: [`do $$ begin raise sqlstate '40001'; end $$`] },
    { state: '40P01', statements: [`do $$ begin raise sqlstate '40P01'; end $$`] },
    { state: '40001 at the COMMIT', statements: REFUSES_COMMIT },
  ])('runs again after $state', async ({ statements }) => {
    let runs = 0;
    const { send } = await open(async (_tx, run) => {
      runs += 1;
      if (runs < 3) for (const statement of statements) await run(statement);
    });
    const event = await sendNew(send, 200);
    expect([runs, ...(await end(event))]).toEqual([3, 1, ['book']]);
  });

  if (part === 'the least') return;

  test('skips what is superseded, by a microsecond', async () => {
    const { send, reports } = await open();
    const now = new Date().toISOString();
    const at = (microseconds: number) => now.replace('Z', `${microseconds}Z`);
    const event = { ...createEvent('transfer.succeeded'), created_at: at(457) };
    await send(event);
    const older = { ...event, id: `${event.id}-older`, created_at: at(456) };
    expect((await send(older)).status).toBe(200);
    expect(reports.all[1]?.handlers).toMatchObject([{ skipped: 'superseded' }]);
    expect(await end(older)).toEqual([0, ['book']]);
  });

  test('fails an attempt whose handler ends the transaction itself', async () => {
    const { send, reports } = await open((_tx, run) => run('rollback'));
    const event = await sendNew(send, 500);
    expect(reports.all[0]?.error?.cause).toMatchObject({ code: 'inbox_transaction_ended' });
    expect(await end(event)).toEqual([0, []]);
  });

  test.each([
    { name: 'commits', handle: (run: (statement: string) => Promise<unknown>) => run('commit') },
    {
      name: 'commits and begins another one',
      handle: async (run: (statement: string) => Promise<unknown>) => {
        await run('commit');
        await run('begin');
      },
    },
    {
      name: 'commits and throws',
      handle: async (run: (statement: string) => Promise<unknown>) => {
        await run('commit');
        throw new Error('no');
      },
    },
  ])('takes back the record of a handler that $name', async ({ handle }) => {
    const event = createEvent('transfer.succeeded');
    for (const count of [1, 2]) {
      const letters = new Map<string, DeadLetter>();
      const deadLetters = createMapDeadLetters(letters);
      const { send } = await open((_tx, run) => handle(run), { deadLetters });
      expect(await send(event)).toMatchObject({ status: 200, body: { outcome: 'parked' } });
      expect(letters.get(event.id)?.message).toContain('rows that it wrote may have been committed');
      expect(await end(event)).toEqual([count, []]);
    }
  });

  test('takes back the record of a rerun whose handler commits', async () => {
    const event = createEvent('transfer.succeeded');
    await (await open()).send(event);
    const report = await rerunBook(await open((_tx, run) => run('commit')), event, 'fix');
    expect(report).toMatchObject({ outcome: 'failed', code: 'handler_failed_permanently' });
    expect([...(await end(event)), await rerunsOf(fixture.pool, event)]).toEqual([2, ['book'], []]);
  });

  test('cancels the running query when the signal aborts', async () => {
    const ended = new Seen<unknown>();
    const { send, receiver } = await open((_tx, run) => run('select pg_sleep(61)').catch(ended.add));
    const event = createEvent('transfer.succeeded');
    const answer = send(event);
    await until('the handler sleeps', async () => {
      const active = `select 1 from pg_stat_activity where query = 'select pg_sleep(61)' and state = 'active'
        and datname = current_database()`;
      return (await fixture.pool.query(active)).rows.length === 1;
    });
    await receiver.close({ graceMs: 0 });
    expect((await answer).status).toBe(503);
    await ended.nth(1);
    expect((await (await open()).send(event)).status).toBe(200);
    expect(await end(event)).toEqual([1, ['book']]);
  });

  if (part === 'without deadlines') return;

  test('waits for a run elsewhere, and fails at its deadline', async () => {
    const { event, gate, running } = await holdRun((pass) => open(pass));
    const second = await open(() => expect.unreachable(), { deadlineMs: 5_000 });
    expect((await second.send(event)).status).toBeGreaterThanOrEqual(500);
    await second.reports.first(({ error }) => isInboxError(error?.cause, 'inbox_busy'));
    const third = await open(() => expect.unreachable());
    const waiting = third.send(event);
    await third.ended.nth(2);
    gate.open();
    expect([(await running).status, (await waiting).status]).toEqual([200, 200]);
    expect(await end(event)).toEqual([1, ['book']]);
  });
}
