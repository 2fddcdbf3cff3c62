import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { createSqliteDeadLetters, createSqliteStore, type SqliteStatement } from 'posthorn/sqlite';
import { storeConformance } from 'posthorn/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { readAll } from '../../support/read-all.ts';
import { createLetter, deadLettersConformance } from '../kit/conformance.ts';
import { keyCases } from '../kit/key-cases.ts';
import { expectLateClaimsRefused } from '../kit/late-claims.ts';
import { expectLikeMemoryStore } from '../kit/like-memory-store.ts';
import { StoreModel, storeCommands } from '../kit/model.ts';
import { serverDeadLettersConformance } from '../kit/server-conformance.ts';
import { summariesConformance, withSummaries } from '../kit/summaries.ts';
import type { Connection, OpenDatabase } from './connection.ts';
import { useSqlite } from './fixture.ts';
import { turnsOf } from './turns-of.ts';

const HOUR_MS = 3_600_000;
const lease = { leaseMs: HOUR_MS / 6, retentionMs: HOUR_MS };

/** What the store promises; `walks` is how many random walks compare it with its model. */
export function testStore(openDatabase: OpenDatabase, { walks }: { readonly walks: number }): void {
  describe('the store in SQLite', () => {
    const fixture = useSqlite(openDatabase);
    let database: Connection;
    beforeEach(async () => {
      database = await fixture.openMigrated();
    });

    const scope = 'store-test';
    const open = (connection = database) => createSqliteStore(connection, { scope, ...ampleTime });

    for (const { name, run } of storeConformance(() => open())) test(name, run);
    test.each(keyCases)('$name', ({ check }) => check(() => open(fixture.open())));

    test('answers like the memory store, whatever the operations', async () => {
      await expectLikeMemoryStore(open());
    });

    test('refuses a claim after its release, in whatever order they and another claim take effect', async () => {
      await expectLateClaimsRefused(open(), open(fixture.open()));
    });

    test('behaves as the reference model under any interleaving of its operations and of time', async () => {
      let time = Date.now();
      database.setClock(() => time);
      const advance = (ms: number) => {
        time += ms;
      };
      const create = () => ({
        model: new StoreModel(),
        real: { store: createSqliteStore(database, { scope: randomUUID(), ...ampleTime }), advance },
      });
      await fc.assert(
        fc.asyncProperty(storeCommands(), (commands) => fc.asyncModelRun(create, commands)),
        { numRuns: walks },
      );
    });

    test('takes a token for that of a run though it differs from that of a hold only by its capitals', async () => {
      const claim = open().claim({ id: randomUUID(), token: 'HOLD:a', ...lease });
      expect(await claim).toMatchObject({ state: 'claimed', attempt: 1 });
    });

    test('answers a claim though a lease or a retention ends between its statements', async () => {
      let time = Date.now();
      // Each statement asks the clock several times, and each answer is a millisecond later.
      database.setClock(() => {
        time += 1;
        return time;
      });
      const store = open();
      const claim = (id: string, token: string) => store.claim({ ...lease, id, token });
      for (let ms = 1; ms <= 40; ms += 1) {
        await store.claim({ id: `lease-${ms}`, token: 'a', leaseMs: ms, retentionMs: HOUR_MS });
        await store.complete({ id: `retention-${ms}`, token: 'a', retentionMs: ms });
        for (const id of [`lease-${ms}`, `retention-${ms}`]) {
          let { state } = await claim(id, 'b');
          for (let tries = 0; state !== 'claimed' && tries < 100; tries += 1)
            ({ state } = await claim(id, 'b'));
          expect(state).toBe('claimed');
        }
      }
    });

    test('runs the operations of one turn in one transaction', async () => {
      const store = open();
      const version = () => Number(Object.values(other.prepare('pragma data_version').get() ?? {})[0]);
      const other = fixture.open();
      await store.claim({ id: 'first', token: 't', ...lease });
      const before = version();
      const ids = Array.from({ length: 50 }, (_, number) => `evt_${number}`);
      await Promise.all(ids.map((id) => store.claim({ id, token: 't', ...lease })));
      await Promise.all(ids.map((id) => store.complete({ id, token: 't', retentionMs: HOUR_MS })));
      // Another connection sees one change for each transaction, or for several of them.
      expect(version()).not.toBe(before);
      expect(Object.values(database.prepare('select total_changes()').get() ?? {})[0]).toBeGreaterThan(100);
    });

    test('counts the next attempt though the clock was set back, and concurrent duplicates after it once', async () => {
      let time = Date.now();
      database.setClock(() => time);
      const store = open();
      const request = { id: 'event', ...lease, attemptSpacingMs: 30_000 };
      const countOf = async (token: string): Promise<unknown> => {
        const claim = await store.claim({ ...request, token });
        await store.release({ ...request, token, handled: [] });
        return claim.state === 'claimed' ? claim.spacedAttempts : claim.state;
      };
      expect(await countOf('first')).toBe(1);
      time -= 600_000;
      expect(await countOf('second')).toBe(2);
      expect(await countOf('its duplicate')).toBe(2);
    });

    test('deletes rows that have been expired for an hour, in small batches after completions', async () => {
      let time = Date.now();
      database.setClock(() => time);
      const store = open();
      const complete = (id: string, retentionMs: number) => store.complete({ id, token: 't', retentionMs });
      const count = () => database.prepare('select 1 from posthorn_events').all().length;
      for (let number = 0; number < 300; number += 1) await complete(`old_${number}`, 1_000);
      await complete('kept', 100 * HOUR_MS);
      time += 2 * HOUR_MS;
      for (let number = 0; number < 50; number += 1) await complete(`new_${number}`, 100 * HOUR_MS);
      expect(count()).toBe(300 + 1 + 50 - 100);
      for (let number = 50; number < 150; number += 1) await complete(`new_${number}`, 100 * HOUR_MS);
      expect(count()).toBe(1 + 150);
      expect(await store.claim({ id: 'kept', token: 't', ...lease })).toEqual({ state: 'completed' });
    });

    test('looks at no more than 100 rows in one clean-up, and at those that live on once', async () => {
      let time = Date.now();
      database.setClock(() => time);
      const store = open();
      const complete = (id: string, retentionMs: number) => store.complete({ id, token: 't', retentionMs });
      const replayed = Array.from({ length: 350 }, (_, number) => `replayed_${number}`);
      const claim = { token: 't', leaseMs: 1_000, retentionMs: HOUR_MS };
      await Promise.all(replayed.map((id) => store.claim({ id, ...claim })));
      await complete('expired', HOUR_MS + 1);
      time += HOUR_MS / 2;
      await Promise.all(replayed.map((id) => complete(id, 10 * HOUR_MS)));
      time += 2 * HOUR_MS;
      const rows = (condition: string) =>
        database.prepare(`select 1 from posthorn_events where ${condition}`).all().length;
      const clean = (round: number) =>
        Promise.all(Array.from({ length: 50 }, (_, number) => complete(`${round}_${number}`, 100 * HOUR_MS)));
      const due: number[] = [];
      for (let round = 0; round < 4; round += 1) {
        await clean(round);
        due.push(rows(`first_expires_at <= ${time}`));
      }
      expect(due).toEqual([251, 151, 51, 0]);
      expect(rows("key = 'expired'")).toBe(0);
      expect(await store.claim({ id: 'replayed_0', token: 'u', ...lease })).toEqual({ state: 'completed' });
      time += 10 * HOUR_MS;
      for (let round = 4; round < 8; round += 1) await clean(round);
      expect(rows("key like 'replayed_%'")).toBe(0);
    });

    test('keeps a row whose retention began anew when it was completed', async () => {
      let time = Date.now();
      database.setClock(() => time);
      const store = open();
      await store.claim({ id: 'evt', token: 't', leaseMs: 1_000, retentionMs: 1_000 });
      await store.complete({ id: 'evt', token: 't', retentionMs: 100 * HOUR_MS });
      time += 2 * HOUR_MS;
      for (let number = 0; number < 60; number += 1)
        await store.complete({ id: `other_${number}`, token: 't', retentionMs: HOUR_MS });
      expect(await store.claim({ id: 'evt', token: 't', ...lease })).toEqual({ state: 'completed' });
    });

    test('keeps scopes apart', async () => {
      await open().complete({ id: 'evt', token: 't', retentionMs: HOUR_MS });
      const other = createSqliteStore(database, { scope: 'other', ...ampleTime });
      expect(await other.claim({ id: 'evt', token: 't', ...lease })).toMatchObject({ state: 'claimed' });
    });

    test('remembers after a restart what was handled', async () => {
      await open().complete({ id: 'evt', token: 't', retentionMs: HOUR_MS });
      database.close();
      const reopened = open(fixture.open());
      expect(await reopened.claim({ id: 'evt', token: 'u', ...lease })).toEqual({ state: 'completed' });
    });

    test.each([
      ['1', 'off'],
      ['0', '0'],
      ['3', '7000'],
    ])('leaves the settings of the connection as they were: synchronous %s', async (synchronous, timeout) => {
      const busyTimeout = timeout === 'off' ? '0' : timeout;
      database.exec(`pragma synchronous = ${synchronous}; pragma busy_timeout = ${busyTimeout}`);
      const settings = () =>
        ['synchronous', 'busy_timeout'].map((name) =>
          String(Object.values(database.prepare(`pragma ${name}`).get() ?? {})[0]),
        );
      const store = open();
      await store.claim({ id: 'evt', token: 't', ...lease });
      expect(settings()).toEqual([synchronous, busyTimeout]);
      const other = fixture.open();
      other.exec('begin immediate');
      const impatient = createSqliteStore(database, { scope, commandTimeoutMs: 50 });
      await expect(impatient.complete({ id: 'evt', token: 't', retentionMs: 1 })).rejects.toThrow(/locked/);
      expect(settings()).toEqual([synchronous, busyTimeout]);
      other.exec('rollback');
    });

    test('is synced by COMMIT, though the connection is set otherwise', async () => {
      database.exec('pragma synchronous = off');
      const seen: unknown[] = [];
      const level = database.prepare('select synchronous from pragma_synchronous');
      const prepare = (sql: string): SqliteStatement => {
        const statement = database.prepare(sql);
        const run: SqliteStatement['run'] = (...values) => {
          if (sql === 'commit') seen.push(Object.values(level.get() ?? {})[0]);
          return statement.run(...values);
        };
        return {
          run,
          get: (...values) => statement.get(...values),
          all: (...values) => statement.all(...values),
        };
      };
      const watched = { prepare, exec: (sql: string) => database.exec(sql) };
      await createSqliteStore(watched, { scope, ...ampleTime }).complete({
        id: 'evt',
        token: 't',
        retentionMs: 1,
      });
      await createSqliteDeadLetters(watched, { scope, ...ampleTime }).remove('evt');
      expect(seen.map(Number)).toEqual([2, 2]);
    });
  });
}

/** What dead letters promise. */
export function testDeadLetters(openDatabase: OpenDatabase): void {
  describe('dead letters in SQLite', () => {
    const fixture = useSqlite(openDatabase);
    let database: Connection;
    beforeEach(async () => {
      database = await fixture.openMigrated();
    });

    for (const { name, check } of deadLettersConformance)
      test(name, () => check(createSqliteDeadLetters(database, { scope: randomUUID(), ...ampleTime })));
    for (const { name, check } of serverDeadLettersConformance)
      test(name, () =>
        check((scope) => ({
          deadLetters: createSqliteDeadLetters(database, { scope, ...ampleTime }),
          store: createSqliteStore(database, { scope, ...ampleTime }),
        })),
      );

    describe('their summaries', () => {
      for (const { name, check } of summariesConformance)
        test(name, () => {
          const deadLetters = createSqliteDeadLetters(database, { scope: 'summaries', ...ampleTime });
          const update = 'update posthorn_dead_letters set letter = ? where key = ?';
          return check(withSummaries(deadLetters), (id, text) => database.prepare(update).run(text, id));
        });
    });

    test('give the event loop a turn after 20 summaries, and after each whole one of a list', async () => {
      const deadLetters = createSqliteDeadLetters(database, { scope: 'turns', ...ampleTime });
      for (let id = 0; id < 60; id += 1) await deadLetters.put(createLetter({ id: String(id) }));
      const { summaries } = withSummaries(deadLetters);
      expect(await turnsOf(() => readAll(summaries()))).toBeGreaterThanOrEqual(4);
      expect(await turnsOf(() => readAll(deadLetters.list()))).toBeGreaterThanOrEqual(61);
    });

    test('are counted up to a limit, without those of other scopes and removed ones', async () => {
      const deadLetters = createSqliteDeadLetters(database, { scope: 'counted', ...ampleTime });
      await createSqliteDeadLetters(database, { scope: 'other' }).put(createLetter({ id: '1' }));
      expect(await deadLetters.count?.({ limit: 10 })).toBe(0);
      for (const id of ['1', '2', '3']) await deadLetters.put(createLetter({ id }));
      for (const [limit, count] of [
        [10, 3],
        [2, 2],
        [0, 0],
        [Number.POSITIVE_INFINITY, 3],
      ] as const)
        expect(await deadLetters.count?.({ limit })).toBe(count);
      await deadLetters.remove('2');
      expect(await deadLetters.count?.({ limit: 10 })).toBe(2);
    });
  });
}
