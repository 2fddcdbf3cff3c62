import type { Store } from 'posthorn';
import { createPostgresInbox } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { type Fixture as PostgresFixture, usePostgres } from '../stores/postgres/fixture.ts';
import { bookings } from '../stores/postgres/ledger.ts';
import { useRedis } from '../stores/redis/fixture.ts';
import { accepted, type EndpointOptions, openEndpoint, refused } from '../support/open-endpoint.ts';
import { type Recorded, recorded } from './fixtures.ts';
import { LONG_ID, SCOPE } from './record.ts';
import { openPostgres, openRedis } from './restored.ts';

/** Past the lease of a process that was killed right before the recording. */
const AFTER_LEASE_MS = 21_000;
/** Ten minutes before the recording: the lease lasts for as long as any test. */
const BEFORE_LEASE_ENDS_MS = -600_000;
/** A delivery waits until then for an event that is running. */
const DEADLINE_MS = 2_000;

const event = (id: string) => ({ ...createEvent('transfer.updated'), id });

/** A receiver of today on a store, and the handlers that it has run. */
async function openReceiver({ store }: { readonly store: Store }, options: EndpointOptions = {}) {
  const ran: string[] = [];
  const { send, reports } = await openEndpoint({ store, ...options }, (receiver) => {
    for (const name of ['log', 'book', 'after']) receiver.on('transfer.*', () => ran.push(name), { name });
  });
  return { ran, send, reports };
}

type OpenStore = (version: Recorded, elapsedMs: number) => Promise<{ readonly store: Store }>;

/**
 * What today's code makes of each state of an id that a version has left behind. The tests of a version may
 * share a store: each has an id of its own, or another time.
 */
function testIds(versions: readonly Recorded[], open: OpenStore): void {
  describe.each(versions)('that version $version has stored', (version) => {
    test.each(['evt_done', LONG_ID])('%s is a duplicate', async (id) => {
      const { ran, send } = await openReceiver(await open(version, BEFORE_LEASE_ENDS_MS));
      expect(await send(event(id))).toEqual(accepted('duplicate', id));
      expect(ran).toEqual([]);
    });

    test('only the handler that failed runs again', async () => {
      const { ran, send, reports } = await openReceiver(await open(version, BEFORE_LEASE_ENDS_MS));
      expect(await send(event('evt_failed'))).toEqual(accepted('processed', 'evt_failed'));
      expect([ran, reports.all[0]?.attempt]).toEqual([['book'], 2]);
      expect(await send(event('evt_failed'))).toEqual(accepted('duplicate', 'evt_failed'));
    });

    test('an event of a killed process is running until its lease ends', async () => {
      const opened = await open(version, BEFORE_LEASE_ENDS_MS);
      const { ran, send } = await openReceiver(opened, { deadlineMs: DEADLINE_MS });
      expect(await send(event('evt_running'))).toEqual(refused(503, 'event_running'));
      expect(ran).toEqual([]);
    });

    test('an event of a killed process is handled once its lease has ended', async () => {
      const { ran, send, reports } = await openReceiver(await open(version, AFTER_LEASE_MS));
      expect(await send(event('evt_running'))).toEqual(accepted('processed', 'evt_running'));
      expect([ran, reports.all[0]?.attempt]).toEqual([['log', 'book', 'after'], 2]);
    });
  });

  const request = { token: 'late', leaseMs: 60_000, retentionMs: 600_000 };
  const since030 = versions.filter(({ version }) => !['0.1.0', '0.2.0'].includes(version));
  describe.each(since030)('that version $version has stored', (version) => {
    test('a hold of a killed process is busy, and then counts neither as an attempt nor as abandoned', async () => {
      const claim = { id: 'evt_refused', ...request };
      const { store } = await open(version, BEFORE_LEASE_ENDS_MS);
      expect(await store.claim(claim)).toMatchObject({ state: 'busy' });
      const later = await open(version, AFTER_LEASE_MS);
      expect(await later.store.claim(claim)).toMatchObject({ attempt: 2, abandoned: 0 });
    });

    test.each([
      ['evt_unclaimed', 1],
      ['evt_unanswered', 2],
    ])('%s, whose claim got no answer, is free', async (id, attempt) => {
      const { store } = await open(version, BEFORE_LEASE_ENDS_MS);
      const counts = { attempt, spacedAttempts: attempt, abandoned: 0 };
      expect(await store.claim({ id, ...request })).toMatchObject({ state: 'claimed', ...counts });
    });
  });
}

/** Opens a version at a time once, for several tests: a database takes as long as ten of them. */
function sharedDatabases(fixture: PostgresFixture) {
  const opened = new Map<string, ReturnType<typeof openPostgres>>();
  return (version: Recorded, elapsedMs: number): ReturnType<typeof openPostgres> => {
    const key = `${version.version} ${elapsedMs}`;
    const shared = opened.get(key) ?? openPostgres(fixture, version, elapsedMs);
    opened.set(key, shared);
    return shared;
  };
}

describe('ids in Redis', () => {
  const fixture = useRedis();
  testIds(recorded, (version, elapsedMs) => openRedis(fixture, version, elapsedMs));
});

describe('ids in PostgreSQL', () => {
  const fixture = usePostgres();
  const versions = recorded.filter(({ hasPostgres }) => hasPostgres);
  testIds(versions, sharedDatabases(fixture));

  describe.each(versions)('with the inbox that version $version has stored', (version) => {
    const openShared = sharedDatabases(fixture);
    /** A receiver whose handlers are the same as those of the version. */
    async function openInbox() {
      const { pool, store } = await openShared(version, AFTER_LEASE_MS);
      const inbox = createPostgresInbox(pool, { scope: SCOPE });
      const opened = await openEndpoint({ store }, (receiver) => {
        const book = inbox.once('book', async ({ id }, { transaction }) => {
          await transaction.query('insert into ledger (event_id) values ($1)', [id]);
        });
        const state = inbox.once('state', () => {}, { latest: () => 'SUB1' });
        receiver.on('transfer.*', book).on('subscription.*', state);
      });
      return { ...opened, pool };
    }

    test.each(['evt_done', 'evt_half_done', 'evt_running', 'evt_failed'])('%s is booked once', async (id) => {
      const { pool, send } = await openInbox();
      const { outcome } = (await send(event(id))).body as { readonly outcome: string };
      expect(outcome).toBe(id === 'evt_done' ? 'duplicate' : 'processed');
      expect(await bookings(pool, { id })).toBe(1);
    });

    test('an event is booked once even after the store has forgotten it', async () => {
      const { pool, send, reports } = await openInbox();
      // A long id is kept as its hash.
      const { rowCount } = await pool.query("delete from posthorn.events where key like 'sha256:%'");
      expect(rowCount).toBe(1);
      expect(await send(event(LONG_ID))).toEqual(accepted('processed', LONG_ID));
      expect(reports.all[0]?.handlers).toMatchObject([{ name: 'book', skipped: 'handled_before' }]);
      expect(await bookings(pool, { id: LONG_ID })).toBe(1);
    });

    test('an event of a resource is compared with the newest one', async () => {
      const { send, reports } = await openInbox();
      const ofSubscription = (ageMs: number) => ({
        ...createEvent('subscription.updated'),
        created_at: new Date(Date.now() - ageMs).toISOString(),
      });
      for (const ageMs of [3_600_000, 0]) expect((await send(ofSubscription(ageMs))).status).toBe(200);
      const skipped = reports.all.map(({ handlers: [handler] }) => handler?.skipped);
      expect(skipped).toEqual(['superseded', undefined]);
    });
  });
});
