import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { createPostgresStore, type PostgresPool } from 'posthorn/postgres';
import { describe, expect, test } from 'vitest';
import { awaitedLater } from '../../support/awaited-later.ts';
import { errorOf } from '../../support/error-of.ts';
import { fakeTime } from '../../support/fake-time.ts';
import { shutGate } from '../../support/gate.ts';
import { ampleTime } from '../../support/limits.ts';
import { until } from '../../support/until.ts';
import { useDatabase } from './fixture.ts';
import { watchedPool } from './watched-pool.ts';

const times = { leaseMs: 60_000, retentionMs: 120_000 };
const firstAttempt = { state: 'claimed', attempt: 1 };
/** Of the tests that let this time pass. */
const COMMAND_TIMEOUT_MS = 2_000;

interface Limit {
  readonly commandTimeoutMs: number;
}

describe('a claim that waits for a client of the pool', () => {
  const fixture = useDatabase();

  const newRequest = () => ({ ...times, id: randomUUID(), token: 'a', handled: [] });
  const storeOn = (pool: PostgresPool, { commandTimeoutMs }: Limit = ampleTime) =>
    createPostgresStore(pool, { scope: 'waiting', commandTimeoutMs });

  /** A store on a pool whose only client somebody else has. */
  async function openExhausted(limit?: Limit) {
    const pool = fixture.connect({ max: 1 });
    const taken = await pool.connect();
    const sent: unknown[] = [];
    const watched = watchedPool(pool, ([, , , names]) => void sent.push(names));
    return { store: storeOn(watched, limit), free: () => taken.release(), sent };
  }

  test('waits for its waitMs, and has its time limit and its lease from the sending on', async () => {
    const pass = fakeTime();
    const { store, free } = await openExhausted({ commandTimeoutMs: COMMAND_TIMEOUT_MS });
    const request = { ...newRequest(), leaseMs: 20_000 };
    const claimed = store.claim({ ...request, waitMs: 30_000 });
    // A slow machine takes some of it from one claim to the next.
    const waitMs = COMMAND_TIMEOUT_MS + 15_000;
    await pass(waitMs);
    free();
    const result = await claimed;
    expect(result).toMatchObject(firstAttempt);
    const { waitedMs = 0 } = result.state === 'claimed' ? result : {};
    expect(waitedMs).toBeGreaterThanOrEqual(waitMs);
    const other = await store.claim({ ...request, token: 'another' });
    const msLeft = other.state === 'busy' ? other.msLeft : 0;
    expect(msLeft, 'counted from the start of the claim it would be less').toBeGreaterThan(20_000 - waitMs);
  });

  test('says nothing of a wait that is not worth a word', async () => {
    const store = storeOn(fixture.connect());
    // The first of them waits for a connection, and on a busy machine others may wait, too.
    await until('a claim is sent at once', async () => {
      const result = await store.claim({ ...newRequest(), waitMs: 30_000 });
      return !('waitedMs' in result);
    });
  });

  test('waits for commandTimeoutMs with a waitMs of 0, because the pool is connected', async () => {
    const pass = fakeTime();
    const { store, free } = await openExhausted({ commandTimeoutMs: COMMAND_TIMEOUT_MS });
    const claimed = store.claim({ ...newRequest(), waitMs: 0 });
    await pass(COMMAND_TIMEOUT_MS / 4);
    free();
    expect(await claimed).toMatchObject(firstAttempt);
    const exhausted = await openExhausted({ commandTimeoutMs: COMMAND_TIMEOUT_MS });
    const refused = awaitedLater(Promise.resolve(exhausted.store.claim({ ...newRequest(), waitMs: 0 })));
    await pass(COMMAND_TIMEOUT_MS);
    await expect(refused).rejects.toMatchObject(
      errorOf('store_unavailable', 'the pool had no client in time'),
    );
  });

  test('lets completions, releases and renewals go first', async () => {
    const { store, free, sent } = await openExhausted();
    const claims = Array.from({ length: 20 }, () => store.claim({ ...newRequest(), waitMs: 30_000 }));
    const others = [
      store.complete(newRequest()),
      store.renew(newRequest()),
      // Of an id that has no claim here.
      store.release(newRequest()),
    ];
    // By the next turn of the event loop all of them wait.
    await setImmediate();
    free();
    await Promise.all([...claims, ...others]);
    expect(sent[0]).toEqual(expect.arrayContaining(['complete', 'renew', 'release']));
  });

  test('is dropped by its release, which has nothing to ask the server', async () => {
    const { store, free, sent } = await openExhausted();
    const request = newRequest();
    const claimed = awaitedLater(Promise.resolve(store.claim({ ...request, waitMs: 30_000 })));
    const repeated = awaitedLater(Promise.resolve(store.claim({ ...request, waitMs: 30_000 })));
    expect(await store.release(request)).toEqual({ state: 'lost' });
    for (const dropped of [claimed, repeated]) {
      await expect(dropped).rejects.toMatchObject(
        errorOf('store_unavailable', 'given up before it was sent'),
      );
    }
    free();
    expect(await store.claim({ ...request, token: 'another' })).toMatchObject(firstAttempt);
    expect(sent).toEqual([['claim']]);
  });

  test.each(['complete', 'renew'] as const)(
    'is dropped by its %s, which goes to the server',
    async (name) => {
      const { store, free, sent } = await openExhausted();
      const request = newRequest();
      const claimed = awaitedLater(Promise.resolve(store.claim({ ...request, waitMs: 30_000 })));
      const ended = store[name](request);
      await expect(claimed).rejects.toMatchObject({ code: 'store_unavailable' });
      free();
      expect((await ended).state).toBe(name === 'complete' ? 'completed' : 'held');
      expect(sent).toEqual([[name]]);
    },
  );

  test('is refused if its release overtakes it', async () => {
    const gate = shutGate();
    const watched = watchedPool(fixture.connect(), ([, , , names]) =>
      JSON.stringify(names).includes('claim') ? gate.pass() : undefined,
    );
    const store = storeOn(watched);
    const request = newRequest();
    const claimed = store.claim(request);
    await gate.held.nth(1);
    expect(await store.release({ ...request, refuseClaimsMs: times.leaseMs })).toEqual({ state: 'lost' });
    gate.open();
    expect(await claimed).toMatchObject({ state: 'busy' });
    const other = await storeOn(fixture.connect()).claim({ ...request, token: 'another' });
    expect(other).toMatchObject({ ...firstAttempt, abandoned: 0 });
  });

  test('asks the server for its release if an earlier claim of the token was sent without an answer', async () => {
    const pool = fixture.connect({ max: 1 });
    let isLost = true;
    // The claim runs on the server, and its connection is lost before the answer comes.
    const losing = watchedPool(pool, () => {});
    const connect: PostgresPool['connect'] = (callback) =>
      losing.connect((error, client) => {
        if (client === undefined || !isLost) return callback(error, client);
        const query: typeof client.query = async (statement) => {
          await client.query(statement);
          throw new Error('the connection was lost');
        };
        callback(undefined, { ...client, query });
      });
    const store = storeOn({ totalCount: 0, connect });
    const request = newRequest();
    await expect(store.claim(request)).rejects.toMatchObject({ code: 'store_unavailable' });
    isLost = false;
    const taken = await pool.connect();
    const again = awaitedLater(Promise.resolve(store.claim({ ...request, waitMs: 30_000 })));
    const released = store.release(request);
    await expect(again).rejects.toMatchObject({ code: 'store_unavailable' });
    taken.release();
    expect(await released).toEqual({ state: 'released' });
  });
});
