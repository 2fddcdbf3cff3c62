import { randomUUID } from 'node:crypto';
import { UnavailableError } from 'posthorn';
import { createPostgresDeadLetters, createPostgresStore, type PostgresPool } from 'posthorn/postgres';
import { describe, expect, test } from 'vitest';
import { awaitedLater } from '../../support/awaited-later.ts';
import { ampleTime } from '../../support/limits.ts';
import { until } from '../../support/until.ts';
import { createLetter } from '../kit/conformance.ts';
import { TcpProxy } from '../redis/tcp-proxy.ts';
import { usePostgres } from './fixture.ts';
import { watchedPool } from './watched-pool.ts';

const times = { leaseMs: 60_000, retentionMs: 120_000 };
const firstAttempt = { state: 'claimed', attempt: 1, abandoned: 0 };

describe('a statement that its caller has given up', () => {
  const fixture = usePostgres();

  const newRequest = () => ({ ...times, id: randomUUID(), token: 'late', handled: [] });
  /** Gives up only where a test waits for that. */
  const storeOn = (
    pool: PostgresPool,
    { commandTimeoutMs }: { readonly commandTimeoutMs: number } = ampleTime,
  ) => createPostgresStore(pool, { scope: 'late', commandTimeoutMs });
  const impatientStoreOn = (pool: PostgresPool) => storeOn(pool, { commandTimeoutMs: 500 });

  async function throughProxy() {
    const proxy = await TcpProxy.start(fixture.postgres.port);
    const pool = fixture.connect({ port: proxy.port });
    await pool.query('select');
    return { proxy, pool, store: impatientStoreOn(pool) };
  }

  /** Whatever statements were under way have ended. */
  const untilQuiet = (): Promise<void> =>
    until('no statement is running', async () => {
      const running =
        "select count(*) from pg_stat_activity where state = 'active' and pid <> pg_backend_pid()";
      return (await fixture.sql(running)) === '0';
    });

  test('takes nothing when it reaches the server late', async () => {
    const { proxy, store } = await throughProxy();
    const request = newRequest();
    proxy.holdRequests();
    await expect(store.claim(request)).rejects.toThrow(UnavailableError);
    await expect(store.release(request)).rejects.toMatchObject({ code: 'store_unavailable' });
    proxy.passRequests();
    await untilQuiet();
    const direct = storeOn(fixture.connect());
    expect(await direct.claim({ ...request, token: 'another' })).toMatchObject(firstAttempt);
  });

  test('takes nothing when a frozen server wakes', async () => {
    const { postgres: server } = fixture;
    const pool = fixture.connect();
    const store = impatientStoreOn(pool);
    const request = newRequest();
    await pool.query('select');
    server.freeze();
    const startedAt = performance.now();
    await expect(store.claim(request)).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(store.claim(request)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    server.thaw();
    await until('the store answers again', () =>
      Promise.resolve(store.claim({ ...request, token: 'another' })).then(
        (result) => {
          expect(result).toMatchObject(firstAttempt);
          return true;
        },
        () => false,
      ),
    );
  });

  test.each(['claim', 'renew'] as const)('takes nothing when it gets the lock late: %s', async (name) => {
    const pool = fixture.connect();
    const [store, patient] = [impatientStoreOn(pool), storeOn(pool)];
    const request = newRequest();
    await patient.claim({ ...request, leaseMs: 1 });
    // By the clock of the server.
    await until('the lease has ended', async () => {
      const ended = `select lease_ends_at < clock_timestamp() from posthorn.events where key = '${request.id}'`;
      return (await fixture.sql(ended)) === 't';
    });
    const holder = await fixture.connect().connect();
    await holder.query('begin');
    await holder.query('select from posthorn.events where key = $1 for update', [request.id]);
    const token = name === 'claim' ? 'another' : 'late';
    const startedAt = performance.now();
    await expect(store[name]({ ...request, token })).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    // Nor does its process go on waiting.
    await until('nobody waits for the lock', async () => {
      return (await fixture.sql('select count(*) from pg_locks where not granted')) === '0';
    });
    await holder.query('commit');
    holder.release();
    const expected = { state: 'claimed', attempt: 2, abandoned: 1 };
    expect(await patient.claim({ ...request, token: 'a third' })).toMatchObject(expected);
  });

  test('does not hold up the operations that share its statement', async () => {
    const store = createPostgresStore(fixture.connect({ max: 1 }), {
      scope: 'late',
      commandTimeoutMs: 8_000,
    });
    const locked = newRequest();
    await store.claim({ ...locked, leaseMs: 1 });
    const holder = await fixture.connect().connect();
    await holder.query('begin');
    await holder.query('select from posthorn.events where key = $1 for update', [locked.id]);
    const results = await Promise.allSettled([
      store.complete(locked),
      ...Array.from({ length: 5 }, () => store.claim(newRequest())),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', ...Array(5).fill('fulfilled')]);
    await holder.query('commit');
    holder.release();
  });

  test('takes nothing when the pool has a client for it at last', async () => {
    const pool = fixture.connect({ max: 1 });
    const store = impatientStoreOn(pool);
    const request = newRequest();
    const taken = await pool.connect();
    await expect(store.claim(request)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('the pool had no client in time'),
    });
    taken.release();
    expect(await storeOn(pool).claim({ ...request, token: 'another' })).toMatchObject(firstAttempt);
    // The store may still be deleting expired ids.
    await until('the client is back', () => pool.idleCount === 1 && pool.waitingCount === 0);
    expect(pool.totalCount).toBe(1);
  });

  test('is given back by its release, if it ran though its answer was lost', async () => {
    const { proxy, pool } = await throughProxy();
    const request = newRequest();
    proxy.treatReplies('swallow');
    const claimed = awaitedLater(Promise.resolve(storeOn(pool).claim(request)));
    await until('the claim has run', async () => {
      const rows = `select count(*) from posthorn.events where key = '${request.id}'`;
      return (await fixture.sql(rows)) === '1';
    });
    proxy.cutConnections();
    proxy.treatReplies('pass');
    await expect(claimed).rejects.toThrow(UnavailableError);
    const direct = storeOn(fixture.connect());
    expect((await direct.claim({ ...request, token: 'another' })).state).toBe('busy');
    expect((await storeOn(pool).release(request)).state).toBe('released');
    expect((await direct.claim({ ...request, token: 'another' })).state).toBe('claimed');
  });

  test('is carried out all the same, if it is a completion: the event was handled', async () => {
    const { proxy, store } = await throughProxy();
    const request = newRequest();
    const direct = storeOn(fixture.connect());
    await direct.claim(request);
    proxy.holdRequests();
    await expect(store.complete(request)).rejects.toThrow(UnavailableError);
    proxy.passRequests();
    await until('the completion has run', async () => {
      return (await direct.claim({ ...request, token: 'another' })).state === 'completed';
    });
  });

  test('does not take out a letter that was parked anew', async () => {
    const { proxy, pool } = await throughProxy();
    const id = randomUUID();
    const late = createPostgresDeadLetters(pool, { scope: 'late', commandTimeoutMs: 500 });
    const direct = createPostgresDeadLetters(fixture.connect(), { scope: 'late', ...ampleTime });
    await direct.put(createLetter({ id }));
    proxy.holdRequests();
    await expect(late.remove(id)).rejects.toMatchObject({ code: 'dead_letters_unavailable' });
    await direct.put(createLetter({ id }));
    proxy.passRequests();
    await untilQuiet();
    expect((await direct.get(id))?.id).toBe(id);
  });

  test('leaves no process behind that waits for the lock of a letter', async () => {
    const pool = fixture.connect();
    const deadLetters = createPostgresDeadLetters(pool, { scope: 'late', ...ampleTime });
    const impatient = createPostgresDeadLetters(pool, { scope: 'late', commandTimeoutMs: 500 });
    const ids = { put: randomUUID(), remove: randomUUID() };
    for (const id of Object.values(ids)) await deadLetters.put(createLetter({ id }));
    const holder = await fixture.connect().connect();
    await holder.query('begin');
    await holder.query('select from posthorn.dead_letters where key = any ($1) for update', [
      Object.values(ids),
    ]);
    const refused = { code: 'dead_letters_unavailable' };
    await Promise.all([
      expect(impatient.put(createLetter({ id: ids.put, attempts: 7 }))).rejects.toMatchObject(refused),
      expect(impatient.remove(ids.remove)).rejects.toMatchObject(refused),
    ]);
    await until('nobody waits for the lock', async () => {
      return (await fixture.sql('select count(*) from pg_locks where not granted')) === '0';
    });
    await holder.query('commit');
    holder.release();
    expect((await deadLetters.get(ids.put))?.attempts).toBe(4);
    expect(await deadLetters.remove(ids.remove)).toBe(true);
  });

  test('is believed after one more trip, if only the clock of the server has gone ahead', async () => {
    const sent: unknown[] = [];
    const pool = watchedPool(fixture.connect(), (values) => {
      // The clock here is behind by as much as that of the server is ahead.
      if (sent.push(values) === 1) values[2] = [Date.now() - 60_000];
    });
    const store = storeOn(pool);
    expect((await store.claim(newRequest())).state).toBe('claimed');
    expect(sent).toHaveLength(2);
  });
});
