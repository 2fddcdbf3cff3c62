import { createReceiver } from 'posthorn';
import { createPostgresDeadLetters, createPostgresStore } from 'posthorn/postgres';
import { describe, expect, test } from 'vitest';
import { KEY } from '../support/served.ts';
import { until } from '../support/until.ts';
import { usePostgres } from './fixture.ts';

/** The 2 seconds that are promised, and what a busy machine adds to them. */
const LIMIT_MS = 6_000;
const scope = 'health';

describe('health of a receiver with its store in PostgreSQL', () => {
  const fixture = usePostgres();

  test('writes nothing; says in time that the server is away, and that it is back', async () => {
    const pool = fixture.connect();
    const store = createPostgresStore(pool, { scope });
    const deadLetters = createPostgresDeadLetters(pool, { scope });
    const receiver = createReceiver({ signingKey: KEY, store, deadLetters });
    await until('the pool has its clients', async () => {
      const health = await receiver.health();
      return health.store.ok && health.deadLetters?.ok === true;
    });
    expect(await receiver.health()).toMatchObject({
      store: { ok: true },
      deadLetters: { ok: true, waiting: 0, more: false },
    });
    expect(fixture.postgres.sql('select count(*) from posthorn.events')).toBe('0');

    for (const [takeAway, bringBack] of [
      [() => fixture.postgres.stop('immediate'), fixture.postgres.restart],
      [fixture.postgres.freeze, fixture.postgres.thaw],
    ] as const) {
      await takeAway();
      const startedAt = performance.now();
      expect(await receiver.health()).toMatchObject({
        store: { ok: false, error: { code: 'store_unavailable' } },
        deadLetters: { ok: false, waiting: undefined, error: { code: 'dead_letters_unavailable' } },
      });
      expect(performance.now() - startedAt).toBeLessThan(LIMIT_MS);
      await bringBack();
      await until('it is back', async () => (await receiver.health()).store.ok);
      await until('the letters are counted', async () => (await receiver.health()).deadLetters?.ok === true);
    }
  });

  test('a pool of which others keep all clients is a store that does not answer', async () => {
    const pool = fixture.connect({ max: 1 });
    const receiver = createReceiver({ signingKey: KEY, store: createPostgresStore(pool, { scope }) });
    const client = await pool.connect();
    expect(await receiver.health()).toHaveProperty('store.ok', false);
    client.release();
    await until('there is a client again', async () => (await receiver.health()).store.ok);
  });
});
