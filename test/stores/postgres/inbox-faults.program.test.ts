import type { Pool } from 'pg';
import { createPostgresInbox } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { awaitedLater } from '../../support/awaited-later.ts';
import { expectCause } from '../../support/error-of.ts';
import { fakeTime, flowingTime, passUntil } from '../../support/fake-time.ts';
import { shutGate } from '../../support/gate.ts';
import type { EndpointOptions } from '../../support/open-endpoint.ts';
import { sendNew } from '../../support/open-endpoint.ts';
import { Seen } from '../../support/seen.ts';
import { throwing } from '../../support/throwing.ts';
import { until } from '../../support/until.ts';
import { TcpProxy } from '../redis/tcp-proxy.ts';
import { useDatabase } from './fixture.ts';
import { outliveDeadline } from './inbox-clients.ts';
import { bookings, createLedger, type Handle, holdRun, openBook, recordsOf, tracesOf } from './ledger.ts';
import { textOf } from './watched-pool.ts';

const scope = 'inbox-test';

describe('an inbox whose PostgreSQL or process fails', () => {
  const fixture = useDatabase();
  const pool = fixture.connect();
  beforeAll(() => createLedger(pool));

  const open = (of: Pool, handle: Handle = () => {}, options: EndpointOptions = {}) =>
    openBook(createPostgresInbox(of, { scope }), handle, options);

  async function openProxy(): Promise<{ proxy: TcpProxy; proxied: Pool }> {
    const proxy = await TcpProxy.start(fixture.port);
    // No client is closed for being idle, even if a test lets hours pass.
    return { proxy, proxied: fixture.connect({ port: proxy.port, idleTimeoutMillis: 0 }) };
  }

  test('does not run a handler again whose COMMIT succeeded while the answer was lost', async () => {
    const { proxy, proxied } = await openProxy();
    const { send, reports } = await open(proxied, () => proxy.treatReplies('swallow'));
    const event = createEvent('transfer.succeeded');
    const first = send(event);
    await until('it is committed', async () => (await bookings(pool, event)) === 1);
    proxy.treatReplies('pass');
    proxy.cutConnections();
    expect((await first).status).toBe(500);
    expectCause(reports.all[0], 'inbox_commit_unknown', 'nobody knows whether it committed');
    expect((await send(event)).status).toBe(200);
    expect(reports.all[1]?.handlers).toMatchObject([{ ok: true, skipped: 'handled_before' }]);
    expect(await bookings(pool, event)).toBe(1);
  });

  test('takes no record back whose COMMIT succeeded while the answer was lost, after a DO block', async () => {
    const losing = fixture.connect();
    let commits = 0;
    losing.on('connect', (client) => {
      const query = client.query.bind(client);
      Reflect.set(client, 'query', async (...values: unknown[]) => {
        const result: unknown = await Reflect.apply(query, client, values);
        if (textOf(values[0]) === 'commit') commits += 1;
        if (textOf(values[0]) === 'commit' && commits === 1) throw new Error('Connection terminated');
        return result;
      });
    });
    // Before such a text the inbox takes its record out; it puts it back at the end.
    const { send, reports } = await open(losing, ({ query }) => query('do $$ begin perform 1; end $$'));
    const event = await sendNew(send, 500);
    expect(reports.all[0]?.error?.cause).toMatchObject({ code: 'inbox_commit_unknown' });
    expect((await send(event)).status).toBe(200);
    expect(reports.all[1]?.handlers).toMatchObject([{ ok: true, skipped: 'handled_before' }]);
    expect(await tracesOf(pool, event)).toEqual([1, ['book']]);
  });

  test('runs a handler again whose connection was lost before its COMMIT arrived', async () => {
    const { proxy, proxied } = await openProxy();
    let cuts = 0;
    const { send, reports } = await open(proxied, () => {
      cuts += 1;
      if (cuts === 1) proxy.cutConnections();
    });
    const event = await sendNew(send, 500);
    expect(reports.all[0]?.error?.cause).toMatchObject({ name: 'InboxError' });
    expect((await send(event)).status).toBe(200);
    expect([cuts, await bookings(pool, event)]).toEqual([2, 1]);
  });

  test('lets a handler that has begun outlive the deadline of its delivery', async () => {
    const gate = shutGate();
    const { receive, reports } = await open(pool, gate.pass, { deadlineMs: 5_000 });
    const event = createEvent('transfer.succeeded');
    await outliveDeadline({ receive, reports }, event, gate);
    expect(await tracesOf(pool, event)).toEqual([1, ['book']]);
  });

  test('gives back a client that comes after its deadline', async () => {
    const own = fixture.connect({ max: 1 });
    const holder = await own.connect();
    const { receive, reports } = await open(own, () => expect.unreachable(), { deadlineMs: 5_000 });
    const pass = fakeTime();
    const answer = receive(createEvent('transfer.succeeded'));
    expect((await passUntil(pass, answer)).status).toBe(500);
    expectCause(reports.all[0], 'inbox_unavailable', 'the pool had no connection before the deadline');
    holder.release();
    expect((await own.query('select 1')).rowCount).toBe(1);
  });

  test('closes a client whose ROLLBACK has no answer', async () => {
    const { proxy, proxied } = await openProxy();
    const removed = new Seen<true>();
    proxied.on('remove', () => removed.add(true));
    const { send, reports } = await open(proxied, () => {
      proxy.treatReplies('swallow');
      flowingTime();
      throw new Error('my own');
    });
    const event = await sendNew(send, 500);
    expect(reports.all[0]?.error?.cause).toMatchObject({ message: 'my own' });
    await removed.nth(1);
    expect(await bookings(pool, event)).toBe(0);
  });

  test('fails for good if PostgreSQL cannot say whether a handler has committed', async () => {
    const { proxy, proxied } = await openProxy();
    const { send, reports } = await open(proxied, async ({ query }) => {
      await query('select 1; commit; begin').catch(() => {});
      proxy.treatReplies('swallow');
      flowingTime();
    });
    const event = createEvent('transfer.succeeded');
    expect(await send(event)).toMatchObject({ status: 500, body: { code: 'handler_failed_permanently' } });
    expect(reports.all[0]?.error?.message).toContain('PostgreSQL did not answer: before a replay');
    expect(await tracesOf(pool, event)).toEqual([1, []]);
  });

  describe('when the signal aborts', () => {
    test('cancels what a handler has not awaited', async () => {
      const late = new Seen<unknown>();
      const { send, receiver } = await open(pool, (transaction) => {
        transaction.query('select pg_sleep(63)').catch(late.add);
      });
      const event = createEvent('transfer.succeeded');
      const answer = send(event);
      await until('the handler sleeps', async () => (await sleeping(63)) === 1);
      await receiver.close({ graceMs: 0 });
      expect((await answer).status).toBe(503);
      expect(await late.nth(1)).toMatchObject({ code: '57014' });
      expect(await bookings(pool, event)).toBe(0);
    });

    test('closes its client if none is free to cancel what that runs', async () => {
      const own = fixture.connect({ max: 1, idleTimeoutMillis: 0 });
      const { send, receiver } = await open(own, ({ query }) => query('select pg_sleep(64)'));
      const event = createEvent('transfer.succeeded');
      const answer = send(event);
      await until('the handler sleeps', async () => (await sleeping(64)) === 1);
      const removed = new Seen<true>();
      own.on('remove', () => removed.add(true));
      flowingTime();
      await receiver.close({ graceMs: 0 });
      expect((await answer).status).toBe(503);
      await removed.nth(1);
      expect(await bookings(pool, event)).toBe(0);
      await pool.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where query = 'select pg_sleep(64)'",
      );
    });

    test('closes a client whose COMMIT has no answer', async () => {
      const { proxy, proxied } = await openProxy();
      const { send, receiver } = await open(proxied, () => proxy.treatReplies('swallow'));
      const event = createEvent('transfer.succeeded');
      const answer = send(event);
      await until('it is committed', async () => (await bookings(pool, event)) === 1);
      const removed = new Seen<true>();
      proxied.on('remove', () => removed.add(true));
      flowingTime();
      await receiver.close({ graceMs: 0 });
      expect((await answer).status).toBe(503);
      await removed.nth(1);
      expect(await recordsOf(pool, event)).toEqual(['book']);
    });

    test('cancels the running query, rolls back, and frees the row', async () => {
      const late = new Seen<unknown>();
      const own = fixture.connect();
      const { send, receiver } = await open(own, async (transaction) => {
        await transaction.query('select pg_sleep(60)').catch(late.add);
        await transaction.query('insert into ledger values ($1)', ['late']).catch(late.add);
      });
      const event = createEvent('transfer.succeeded');
      const answer = send(event);
      await until('the handler sleeps', async () => (await sleeping()) === 1);
      expect((await receiver.close({ graceMs: 0 })).abandoned).toEqual([event.id]);
      expect((await answer).status).toBe(503);
      expect(await late.nth(1)).toMatchObject({ code: '57014' });
      expect(await late.nth(2)).toMatchObject({ code: 'inbox_transaction_ended' });
      await until('the query has ended', async () => (await sleeping()) === 0);
      expect((await (await open(pool)).send(event)).status).toBe(200);
      expect([await bookings(pool, event), await bookings(pool, { id: 'late' })]).toEqual([1, 0]);
      await until('the client is closed', () => own.totalCount === own.idleCount);
    });

    test('a handler that is deaf to it writes nothing any more', async () => {
      const gate = shutGate();
      const late = new Seen<unknown>();
      const own = fixture.connect({ max: 3 });
      const { send, receiver } = await open(own, async (transaction) => {
        await gate.pass();
        await transaction.query('insert into ledger values ($1)', ['deaf']).catch(late.add);
      });
      const event = createEvent('transfer.succeeded');
      const answer = send(event);
      await gate.held.nth(1);
      await receiver.close({ graceMs: 0 });
      expect((await answer).status).toBe(503);
      await until('the client is back in its pool, clean', () => own.idleCount === 1);
      const other = await own.connect();
      await other.query('begin');
      gate.open();
      expect(await late.nth(1)).toMatchObject({ code: 'inbox_transaction_ended' });
      await other.query('commit');
      other.release();
      expect([await bookings(pool, event), await bookings(pool, { id: 'deaf' })]).toEqual([0, 0]);
    });

    async function sleeping(seconds = 60): Promise<number> {
      const { rows } = await pool.query<{ count: number }>(
        `select count(*)::int as count from pg_stat_activity where query = $1 and state = 'active'
          and datname = current_database()`,
        [`select pg_sleep(${seconds})`],
      );
      return rows[0]?.count ?? 0;
    }
  });

  describe('with a run of the same event elsewhere', () => {
    test('waits for its end without keeping a connection, and does nothing then', async () => {
      const { event, gate, running } = await holdRun((pass) => open(pool, pass));
      const own = fixture.connect({ max: 1 });
      const second = await open(own, () => expect.unreachable());
      const waiting = second.send(event);
      const given = new Seen<true>();
      own.on('release', () => given.add(true));
      await given.nth(3);
      gate.open();
      expect([(await running).status, (await waiting).status]).toEqual([200, 200]);
      expect(second.reports.all[0]?.handlers).toMatchObject([{ skipped: 'handled_before' }]);
      expect(await bookings(pool, event)).toBe(1);
    });

    test('runs the event itself where that run fails', async () => {
      const { event, gate, running } = await holdRun((pass) => open(pool, () => pass().then(throwing('no'))));
      const own = fixture.connect({ max: 1 });
      const isReleased = new Seen<true>();
      own.on('release', () => isReleased.add(true));
      const second = await open(own);
      const waiting = second.send(event);
      await isReleased.nth(2);
      gate.open();
      expect([(await running).status, (await waiting).status]).toEqual([500, 200]);
      expect(await bookings(pool, event)).toBe(1);
    });

    test.each([
      { max: 1, share: 1 },
      { max: 2, share: 1 },
      { max: 4, share: 3 },
      { max: 8, share: 6 },
    ])(
      'of $max connections takes $share, which the renewals of a store can wait for',
      async ({ max, share }) => {
        // More than there are connections: what limits them is the share alone.
        const events = Array.from({ length: max + 2 }, () => createEvent('transfer.succeeded'));
        const holder = await pool.connect();
        await holder.query('begin');
        for (const { id } of events) {
          await holder.query("insert into posthorn.inbox values ($1, $2, 'book')", [scope, id]);
        }
        const own = fixture.connect({ max });
        const looks = new Seen<number>();
        let taken = 0;
        own.on('acquire', () => {
          taken += 1;
          looks.add(taken);
        });
        own.on('release', () => {
          taken -= 1;
        });
        const { send } = await open(own, () => {}, { deadlineMs: 20_000 });
        const answers = awaitedLater(Promise.all(events.map((event) => send(event))));
        await looks.nth(2 * events.length);
        expect(Math.max(...looks.all)).toBe(share);
        const durations: number[] = [];
        for (let count = 0; count < 10; count += 1) {
          const startedAt = performance.now();
          await own.query('select 1');
          durations.push(performance.now() - startedAt);
        }
        expect(durations.sort((one, other) => one - other)[5]).toBeLessThan(2_000);
        expect(Math.max(...looks.all)).toBeLessThanOrEqual(Math.min(max, share + 1));
        await holder.query('rollback');
        holder.release();
        expect((await answers).map(({ status }) => status)).toEqual(events.map(() => 200));
        for (const event of events) expect(await recordsOf(pool, event)).toEqual(['book']);
      },
    );
  });

  test('fails the attempt once the pool has ended', async () => {
    const own = fixture.connect();
    const { send, reports } = await open(own);
    await own.end();
    expect((await send(createEvent('transfer.succeeded'))).status).toBe(500);
    expectCause(reports.all[0], 'inbox_unavailable', 'after calling end on the pool');
  });
});
