import { createSqliteDeadLetters, createSqliteInbox, createSqliteStore } from 'posthorn/sqlite';
import { createEvent } from 'posthorn/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { ampleDeadlines, ampleTime } from '../../support/limits.ts';
import { forwardedClock, stoppedClock } from '../../support/monotonic-clock.ts';
import { openEndpoint } from '../../support/open-endpoint.ts';
import { until } from '../../support/until.ts';
import { createLetter } from '../kit/conformance.ts';
import type { Connection, OpenDatabase } from './connection.ts';
import { useSqlite } from './fixture.ts';
import { type WatchedDatabase, watch } from './watched.ts';

const scope = 'turns-test';
const request = { id: 'evt', token: 't', leaseMs: 60_000, retentionMs: 3_600_000 };

/** In which order transactions of one process get the lock of the file, and how long a claim waits for it. */
export function testTurns(openDatabase: OpenDatabase): void {
  describe('while other connections have the lock', () => {
    const fixture = useSqlite(openDatabase);
    let database: WatchedDatabase;
    let other: Connection;
    beforeEach(async () => {
      database = watch(await fixture.openMigrated());
      other = fixture.open();
      other.exec('create table others (id integer)');
      other.exec('begin immediate');
    });

    /** A receiver whose events wait for the lock in an inbox only. */
    const openInbox = (order: string[]) => {
      const inbox = createSqliteInbox(database, { scope });
      return openEndpoint(ampleDeadlines, (receiver) =>
        receiver.on(
          '*',
          inbox.once('book', ({ id }) => void order.push(id)),
        ),
      );
    };

    /** Delivers events that wait in the inbox, in their order. */
    const deliver = (receive: Awaited<ReturnType<typeof openInbox>>['receive'], count: number) => {
      const events = Array.from({ length: count }, () => createEvent('transfer.succeeded'));
      const answers = events.map((event) => receive(event));
      return { ids: events.map(({ id }) => id), answers: Promise.all(answers) };
    };

    test('a claim waits past commandTimeoutMs, up to its waitMs, while they commit', async () => {
      const forward = forwardedClock();
      const store = createSqliteStore(database, { scope, commandTimeoutMs: 3_600_000 });
      const waiting = store.claim({ ...request, waitMs: 20_000_000 });
      for (let commit = 0; commit < 3; commit += 1) {
        forward(3_000_000);
        other.exec('insert into others values (1); commit; begin immediate');
        await database.triedAgain();
      }
      other.exec('rollback');
      const { state, waitedMs = 0 } = { waitedMs: 0, ...(await waiting) };
      expect(state).toBe('claimed');
      expect(waitedMs).toBeGreaterThan(9_000_000);
      other.exec('begin immediate');
      const late = store.claim({ ...request, id: 'late', waitMs: 5_000_000 });
      forward(3_000_000);
      other.exec('insert into others values (1); commit; begin immediate');
      await database.triedAgain();
      forward(2_000_000);
      await expect(late).rejects.toThrow('its turn has not come for 5000000 ms');
      other.exec('rollback');
    });

    test('a claim that may wait is given up after commandTimeoutMs if none of them commits', async () => {
      const forward = forwardedClock();
      const store = createSqliteStore(database, { scope, commandTimeoutMs: 3_600_000 });
      const waiting = store.claim({ ...request, waitMs: 20_000_000 });
      await database.triedAgain();
      forward(3_600_000);
      await expect(waiting).rejects.toThrow('has had the file locked for 3600000 ms');
      other.exec('rollback');
    });

    test('a release drops the claim of its token that waits', async () => {
      const store = createSqliteStore(database, { scope, ...ampleTime });
      const claim = store.claim({ ...request, waitMs: 3_600_000 });
      const others = store.claim({ ...request, id: 'other', waitMs: 3_600_000 });
      const release = store.release({ ...request, handled: [] });
      await expect(claim).rejects.toThrow('given up before its turn');
      other.exec('rollback');
      expect(await release).toEqual({ state: 'lost' });
      expect(await others).toMatchObject({ state: 'claimed' });
      expect(await store.claim({ ...request, token: 'u' })).toMatchObject({ state: 'claimed', attempt: 1 });
    });

    test('completions, renewals and releases go before claims', async () => {
      const store = createSqliteStore(database, { scope, ...ampleTime });
      const order: string[] = [];
      const note = (name: string) => () => void order.push(name);
      const ids = Array.from({ length: 150 }, (_, number) => `claimed_${number}`);
      const claims = ids.map((id) => store.claim({ ...request, id }));
      const all = [Promise.resolve(claims.at(-1)).then(note('the last claim'))];
      await database.triedAgain();
      all.push(Promise.resolve(store.complete(request)).then(note('complete')));
      all.push(Promise.resolve(store.renew({ ...request, id: 'b' })).then(note('renew')));
      all.push(Promise.resolve(store.release({ ...request, id: 'c', handled: [] })).then(note('release')));
      await database.triedAgain();
      other.exec('rollback');
      await Promise.all([...all, ...claims]);
      expect(order).toEqual(['complete', 'renew', 'release', 'the last claim']);
    });

    test('runs of an inbox get it in the order of their events', async () => {
      const order: string[] = [];
      const { receive } = await openInbox(order);
      const { ids, answers } = deliver(receive, 12);
      // Runs that tried each for itself would have lost their order by then.
      for (let tries = 0; tries < 20; tries += 1) await database.triedAgain();
      other.exec('rollback');
      for (const { status } of await answers) expect(status).toBe(200);
      expect(order).toEqual(ids);
    });

    test.each([
      ['behind the runs of inboxes', 0, 'last'],
      ['before them, if they have waited for half a second', 600, 'first'],
    ])('operations of the store get it %s', async (_name, waitedMs, place) => {
      const forward = stoppedClock();
      const order: string[] = [];
      const { receive } = await openInbox(order);
      const { ids, answers } = deliver(receive, 3);
      const store = createSqliteStore(database, { scope, ...ampleTime });
      const completed = Promise.resolve(store.complete(request)).then(() => order.push('completed'));
      await database.triedAgain();
      forward(waitedMs);
      await database.triedAgain();
      other.exec('rollback');
      await Promise.all([answers, completed]);
      await until('all have run', () => order.length === 4);
      expect(order).toEqual(place === 'first' ? ['completed', ...ids] : [...ids, 'completed']);
    });

    test('letters that have waited for half a second take turns with the runs of inboxes', async () => {
      const forward = stoppedClock();
      const order: string[] = [];
      const { receive } = await openInbox(order);
      const { answers } = deliver(receive, 3);
      const deadLetters = createSqliteDeadLetters(database, { scope, ...ampleTime });
      const puts = [1, 2, 3].map(() => deadLetters.put(createLetter()).then(() => order.push('letter')));
      await database.triedAgain();
      forward(600);
      await database.triedAgain();
      other.exec('rollback');
      await Promise.all([answers, ...puts]);
      expect(order.map((one) => (one === 'letter' ? one : 'run'))).toEqual([
        ...['letter', 'run', 'letter', 'run', 'letter', 'run'],
      ]);
    });

    test('operations with little time wait behind runs for a quarter of it', async () => {
      const forward = stoppedClock();
      const order: string[] = [];
      const { receive } = await openInbox(order);
      const { ids, answers } = deliver(receive, 3);
      const store = createSqliteStore(database, { scope, commandTimeoutMs: 400 });
      const completed = Promise.resolve(store.complete(request)).then(() => order.push('completed'));
      await database.triedAgain();
      forward(110);
      await database.triedAgain();
      other.exec('rollback');
      await Promise.all([answers, completed]);
      expect(order).toEqual(['completed', ...ids]);
    });
  });
}
