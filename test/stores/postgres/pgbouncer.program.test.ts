import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import {
  createPostgresDeadLetters,
  createPostgresInbox,
  createPostgresJournal,
  createPostgresStore,
  migratePostgres,
} from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { awaitedLater } from '../../support/awaited-later.ts';
import { ampleDeadlines, ampleTime } from '../../support/limits.ts';
import { openEndpoint } from '../../support/open-endpoint.ts';
import { Seen } from '../../support/seen.ts';
import { throwing } from '../../support/throwing.ts';
import { until } from '../../support/until.ts';
import { createLetter } from '../kit/conformance.ts';
import { ampleJournal, createRecord, idsOf, write } from '../kit/journal/journal-case.ts';
import { useDatabase } from './fixture.ts';
import { bookings, createLedger, type Handle, holdRun, openBook, tracesOf } from './ledger.ts';
import { type PgBouncer, startPgBouncer } from './pgbouncer.ts';

/** Fewer than the clients of all pools here, so that these share them. */
const POOL_SIZE = 4;

const scope = 'bouncer';

describe('through PgBouncer', () => {
  const fixture = useDatabase();
  let bouncer: PgBouncer;
  let pool: Pool;
  /** The server itself. */
  let direct: Pool;

  beforeAll(async () => {
    bouncer = await startPgBouncer(fixture.port, POOL_SIZE);
    pool = fixture.connect({ port: bouncer.port, max: POOL_SIZE });
    direct = fixture.connect();
    await createLedger(direct);
  });
  afterAll(() => bouncer?.stop());

  test('several processes migrate at once', async () => {
    const schema = 'bouncing';
    const pools = Array.from({ length: POOL_SIZE * 2 }, () => fixture.connect({ port: bouncer.port }));
    await Promise.all(pools.map((one) => migratePostgres(one, { schema })));
    const { rows } = await direct.query(`select version from ${schema}.migrations order by 1`);
    expect(rows).toEqual([{ version: 1 }, { version: 2 }, { version: 3 }, { version: 4 }, { version: 5 }]);
    const store = createPostgresStore(pool, { scope, schema, ...ampleTime });
    const request = { id: 'evt_1', token: 'a', leaseMs: 20_000, retentionMs: 60_000 };
    expect((await store.claim(request)).state).toBe('claimed');
  });

  const open = (handle?: Handle, on: Pool = pool) =>
    openBook(createPostgresInbox(on, { scope }), handle, {
      store: createPostgresStore(on, { scope: randomUUID(), ...ampleTime }),
    });

  test('several processes write a journal, and read it', async () => {
    const pools = [pool, ...[1, 2].map(() => fixture.connect({ port: bouncer.port, max: POOL_SIZE }))];
    const ids = Array.from({ length: 30 }, (_, index) => `evt_${index}`);
    const journals = pools.map((one) => createPostgresJournal(one, { scope, ...ampleJournal }));
    const writes = journals.flatMap((journal) =>
      [ids, ids.toReversed(), ids].map((order) => write(journal, ...order.map((id) => createRecord({ id })))),
    );
    await Promise.all(writes);
    const [journal] = journals;
    expect(journal && (await idsOf(journal))?.length).toBe(ids.length);
    for (const id of ids) expect(await journal?.get(id)).toMatchObject({ deliveries: writes.length });
  });

  describe('an inbox', () => {
    test('handles an event once, whatever the store has forgotten', async () => {
      const event = createEvent('transfer.succeeded');
      expect((await (await open()).send(event)).status).toBe(200);
      const { send, reports } = await open(() => expect.unreachable());
      expect((await send(event)).status).toBe(200);
      expect(reports.all[0]?.handlers).toMatchObject([{ ok: true, skipped: 'handled_before' }]);
      expect(await tracesOf(direct, event)).toEqual([1, ['book']]);
    });

    test('handles many at once, while more clients than connections share them', async () => {
      const others = [1, 2].map(() => fixture.connect({ port: bouncer.port, max: POOL_SIZE }));
      // Two receivers share a pool, and none of them a store.
      const endpoints = await Promise.all([pool, pool, ...others].map((one) => open(() => {}, one)));
      const events = Array.from({ length: 40 }, () => createEvent('transfer.succeeded'));
      const answers = await Promise.all(
        events.flatMap((event) => endpoints.map(async ({ send }) => (await send(event)).status)),
      );
      expect(new Set(answers)).toEqual(new Set([200]));
      for (const event of events) {
        expect(await tracesOf(direct, event)).toEqual([1, ['book']]);
      }
    });

    test('leaves no row of a handler that fails after its insert', async () => {
      const { send } = await open(throwing('after the insert'));
      const event = createEvent('transfer.succeeded');
      expect((await send(event)).status).toBe(500);
      expect(await tracesOf(direct, event)).toEqual([0, []]);
    });

    test('waits for a run of the same event elsewhere, and does nothing then', async () => {
      const { event, gate, running } = await holdRun((pass) => open(pass));
      const own = fixture.connect({ port: bouncer.port, max: 1 });
      const isReleased = new Seen<true>();
      own.on('release', () => isReleased.add(true));
      // Its store is in memory, so all that this pool gives back are looks for the row.
      const second = await openEndpoint(ampleDeadlines, (receiver) => {
        const inbox = createPostgresInbox(own, { scope });
        receiver.on(
          'transfer.*',
          inbox.once('book', () => expect.unreachable()),
        );
      });
      const waiting = second.send(event);
      await isReleased.nth(2);
      gate.open();
      expect([(await running).status, (await waiting).status]).toEqual([200, 200]);
      expect(second.reports.all[0]?.handlers).toMatchObject([{ skipped: 'handled_before' }]);
      expect(await bookings(direct, event)).toBe(1);
    });

    test('cancels the query that runs when the signal aborts, and no other', async () => {
      const late = new Seen<unknown>();
      const { send, receiver } = await open((transaction) =>
        transaction.query('select pg_sleep(60)').catch(late.add),
      );
      const event = createEvent('transfer.succeeded');
      const answer = send(event);
      await until('the handler sleeps', async () => (await sleeping(60)) === 1);
      const other = awaitedLater(
        fixture.connect({ port: bouncer.port, max: 1 }).query('select pg_sleep(600)'),
      );
      await until('somebody else sleeps', async () => (await sleeping(600)) === 1);
      expect((await receiver.close({ graceMs: 0 })).abandoned).toEqual([event.id]);
      expect((await answer).status).toBe(503);
      expect(await late.nth(1)).toMatchObject({ code: '57014' });
      await until('the query has ended', async () => (await sleeping(60)) === 0);
      expect((await (await open()).send(event)).status).toBe(200);
      expect(await bookings(direct, event)).toBe(1);
      expect(await sleeping(600)).toBe(1);
      await direct.query('select pg_cancel_backend(pid) from pg_stat_activity where query = $1', [
        'select pg_sleep(600)',
      ]);
      await expect(other).rejects.toMatchObject({ code: '57014' });
    });

    async function sleeping(seconds: number): Promise<number> {
      const { rows } = await direct.query<{ count: number }>(
        "select count(*)::int as count from pg_stat_activity where query = $1 and state = 'active' and datname = current_database()",
        [`select pg_sleep(${seconds})`],
      );
      return rows[0]?.count ?? 0;
    }
  });

  test('nothing is left in the connection that others get next', async () => {
    const single = await startPgBouncer(fixture.port, 1);
    try {
      const own = fixture.connect({ port: single.port });
      const before = await stateOf(own);
      await migratePostgres(own, { schema: 'left' });
      const deadLetters = createPostgresDeadLetters(own, { scope, ...ampleTime });
      await deadLetters.put(createLetter({ id: 'left' }));
      await deadLetters.remove('left');
      const idleLimit = new Seen<unknown>();
      const show = 'show idle_in_transaction_session_timeout';
      const { send } = await open(async ({ query }) => idleLimit.add((await query(show)).rows), own);
      expect((await send(createEvent('transfer.succeeded'))).status).toBe(200);
      expect(await idleLimit.nth(1)).toEqual([
        { idle_in_transaction_session_timeout: `${ampleDeadlines.deadlineMs / 1_000}s` },
      ]);
      expect(await createPostgresInbox(own, { scope }).prune({ olderThanMs: 86_400_000 })).toBe(0);
      expect(await stateOf(own)).toEqual(before);
    } finally {
      await single.stop();
    }
  });

  /**
   * The process of the server, its settings (those of a language come with its first use), prepared
   * statements, and locks of the session.
   */
  async function stateOf(own: Pool): Promise<unknown> {
    const { rows } = await own.query(`select pg_backend_pid() as process,
      (select json_object_agg(name, setting order by name) from pg_settings where name not like 'plpgsql.%') as settings,
      (select json_agg(name) from pg_prepared_statements) as statements,
      (select json_agg(locktype) from pg_locks where pid = pg_backend_pid() and locktype = 'advisory') as locks,
      (select json_agg(channel) from pg_listening_channels() as channel) as channels`);
    return rows[0];
  }
});
