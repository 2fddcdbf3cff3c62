import type { WebhookEvent } from 'posthorn';
import { createPostgresInbox } from 'posthorn/postgres';
import { beforeAll, describe, expect, test } from 'vitest';
import { expectCause } from '../../support/error-of.ts';
import { shutGate } from '../../support/gate.ts';
import { ampleDeadlines } from '../../support/limits.ts';
import { type DirectEndpoint, openDirectly } from '../../support/open-endpoint.ts';
import { until } from '../../support/until.ts';
import { testKilledReruns } from '../kit/inbox/killed-reruns.ts';
import {
  type BookingInbox,
  done,
  doneBefore,
  handled,
  latestOf,
  rerunBook,
  testReruns,
  tracesOf,
} from '../kit/inbox/rerun-cases.ts';
import { TcpProxy } from '../redis/tcp-proxy.ts';
import { useDatabase } from './fixture.ts';
import { inPostgres, openBook, RERUN_SCOPE } from './inbox-rerun.ts';
import { book, bookings, createLedger, type Handle, recordsOf, untilOneWaits } from './ledger.ts';
import { firstWord, sentBy } from './watched-pool.ts';

const scope = RERUN_SCOPE;
describe('a rerun of a handler of an inbox in PostgreSQL', () => {
  const fixture = useDatabase();
  const pool = fixture.connect();
  beforeAll(() => createLedger(pool));

  const open = (handle?: Handle): DirectEndpoint => openBook(pool, handle);
  const notRun: Handle = () => expect.unreachable();

  const inbox: BookingInbox = {
    open: (work = () => {}) => {
      const once = createPostgresInbox(pool, { scope }).once(
        'book',
        async (event: WebhookEvent, { rerun, transaction }) => {
          await book(event, transaction);
          work(event, rerun);
        },
        { latest: latestOf },
      );
      return openDirectly(ampleDeadlines, (receiver) => void receiver.on('transfer.*', once));
    },
    ...inPostgres(pool),
  };
  testReruns(inbox);

  const withoutLatest: BookingInbox = { ...inbox, open: () => open() };
  testKilledReruns(withoutLatest, () => ({ POSTGRES_URL: fixture.url(), SCOPE: scope }));

  test('is recorded in the message that begins', async () => {
    const event = await handled(withoutLatest);
    const counted = fixture.connect();
    const sent = sentBy(counted);
    expect(await rerunBook(openBook(counted), event, 'fix')).toMatchObject(done);
    expect(sent.map(firstWord)).toEqual(['begin', 'insert', 'commit']);
  });

  describe('while another one has the event', () => {
    /** Begins the rerun A, whose handler waits at a gate, and fails then if it is to. */
    async function begin(event: WebhookEvent, end: () => void = () => {}) {
      const gate = shutGate();
      const running = rerunBook(
        open(() => gate.pass().then(end)),
        event,
        'A',
      );
      await gate.held.nth(1);
      return { gate, running };
    }

    const fail = (): void => {
      throw new Error('no');
    };

    test.each([{ has: 'with' }, { has: 'without' }])(
      'waits for its end, $has a record of the event',
      async ({ has }) => {
        const event = await handled(withoutLatest);
        if (has === 'without') await inbox.forget(event);
        const { gate, running } = await begin(event);
        let hasEnded = false;
        const first = running.finally(() => {
          hasEnded = true;
        });
        const ends: boolean[] = [];
        const second = rerunBook(
          open(() => ends.push(hasEnded)),
          event,
          'B',
        );
        await Promise.race([untilOneWaits(pool, 'record_rerun'), second]);
        expect(ends).toEqual([]);
        gate.open();
        expect(await Promise.all([first, second])).toMatchObject([done, done]);
        expect(await tracesOf(inbox, event)).toEqual([3, ['book'], ['A', 'B']]);
      },
    );

    test('does nothing after the same rerun, and runs after one that failed', async () => {
      for (const { end, outcomes } of [
        { end: () => {}, outcomes: [done, doneBefore] },
        { end: fail, outcomes: [{ outcome: 'failed' }, done] },
      ]) {
        const event = await handled(withoutLatest);
        const { gate, running } = await begin(event, end);
        const second = rerunBook(open(), event, 'A');
        await Promise.race([untilOneWaits(pool, 'record_rerun'), second]);
        gate.open();
        expect(await Promise.all([running, second])).toMatchObject(outcomes);
        expect(await tracesOf(inbox, event)).toEqual([2, ['book'], ['A']]);
      }
    });

    test('lets a prune pass over the record of the event, however old that is', async () => {
      const own = createPostgresInbox(pool, { scope });
      const [event, other] = [await handled(withoutLatest), await handled(withoutLatest)];
      const ofBoth = 'update posthorn.inbox set handled_at = to_timestamp(0) where event_key = any($1)';
      await pool.query(ofBoth, [[event.id, other.id]]);
      const { gate, running } = await begin(event);
      expect(await own.prune({ olderThanMs: 86_400_000 })).toBe(1);
      expect(await recordsOf(pool, event)).toEqual(['book']);
      gate.open();
      expect(await running).toMatchObject(done);
      expect(await own.prune({ olderThanMs: 86_400_000 })).toBe(1);
      expect(await tracesOf(inbox, event)).toEqual([2, [], ['A']]);
    });

    test('lets no delivery run the handler', async () => {
      const event = await handled(withoutLatest);
      const { gate, running } = await begin(event);
      const { reports, send } = open(notRun);
      expect((await send(event)).status).toBe(200);
      expect(reports.all[0]?.handlers).toMatchObject([{ skipped: 'handled_before' }]);
      gate.open();
      expect(await running).toMatchObject(done);
    });

    test.each([
      { ending: 'succeeds', end: () => {}, skipped: 'handled_before', traces: [2, ['book'], ['A']] },
      { ending: 'fails', end: fail, skipped: undefined, traces: [2, ['book'], []] },
    ])(
      'lets a delivery wait if no record of the event was there, until it $ending',
      async ({ end, skipped, traces }) => {
        const event = await handled(withoutLatest);
        await inbox.forget(event);
        const { gate, running } = await begin(event, end);
        const { reports, send } = open();
        const answer = send(event);
        await Promise.race([untilOneWaits(pool, 'record_ranked'), answer]);
        gate.open();
        await running;
        expect((await answer).status).toBe(200);
        expect(reports.all[0]?.handlers[0]?.skipped).toBe(skipped);
        expect(await tracesOf(inbox, event)).toEqual(traces);
      },
    );
  });

  test.each([
    { end: 'commit', code: 'handler_failed_permanently', booked: 2 },
    { end: 'rollback', code: 'handler_failed', booked: 1 },
  ])('has no record of a handler that sends a $end', async ({ end, code, booked }) => {
    const event = await handled(withoutLatest);
    const ending = open(({ query }) => query(`select 1; ${end}`).catch(() => {}));
    expect(await rerunBook(ending, event, 'fix')).toMatchObject({ outcome: 'failed', code });
    expect(await tracesOf(inbox, event)).toEqual([booked, ['book'], []]);
    expect(await rerunBook(open(), event, 'fix')).toMatchObject(done);
    expect(await tracesOf(inbox, event)).toEqual([booked + 1, ['book'], ['fix']]);
  });

  test('does not run again if its COMMIT succeeded while the answer was lost', async () => {
    const event = await handled(withoutLatest);
    const proxy = await TcpProxy.start(fixture.port);
    const proxied = fixture.connect({ port: proxy.port, idleTimeoutMillis: 0 });
    const { receiver, reports } = openBook(proxied, () => proxy.treatReplies('swallow'));
    const first = rerunBook({ receiver }, event, 'fix');
    await until('it is committed', async () => (await bookings(pool, event)) === 2);
    proxy.treatReplies('pass');
    proxy.cutConnections();
    expect(await first).toMatchObject({ outcome: 'failed', code: 'handler_failed' });
    expectCause(reports.all[0], 'inbox_commit_unknown', 'nobody knows whether it committed');
    expect(await rerunBook({ receiver }, event, 'fix')).toMatchObject(doneBefore);
    expect(await tracesOf(inbox, event)).toEqual([2, ['book'], ['fix']]);
  });

  test('is pruned by its own age, of its scope, in batches', async () => {
    const own = createPostgresInbox(pool, { scope: 'pruned' });
    // Three names each, so that a batch of 5,000 ends between the names of an event.
    await pool.query(`insert into posthorn.inbox
      select scope, 'evt_' || n, 'book', now() - (n % 4 / 3) * interval '2 days'
      from generate_series(1, 4000) n, unnest(array['pruned', 'other']) scope`);
    await pool.query(`insert into posthorn.inbox_reruns
      select scope, 'evt_' || n, 'book', run, now() - (n % 2) * interval '2 days'
      from generate_series(1, 4000) n, unnest(array['a', 'b', 'c']) run, unnest(array['pruned', 'other']) scope`);
    expect(await own.prune({ olderThanMs: 86_400_000 })).toBe(1_000 + 6_000);
    expect(await own.prune({ olderThanMs: 86_400_000 })).toBe(0);
    const count = (table: string) =>
      fixture.sql(
        `select scope, count(*) from posthorn.${table} where scope in ('pruned', 'other') group by 1 order by 1`,
      );
    expect(await count('inbox')).toBe('other|4000\npruned|3000');
    expect(await count('inbox_reruns')).toBe('other|12000\npruned|6000');
  });
});
