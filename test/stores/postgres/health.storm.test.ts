import { createReceiver } from 'posthorn';
import { createPostgresDeadLetters, createPostgresStore } from 'posthorn/postgres';
import { describe, expect, test } from 'vitest';
import { KEY } from '../../support/served.ts';
import { until } from '../../support/until.ts';
import { usePostgres } from './fixture.ts';

/** The 2 seconds that are promised, and what a busy machine adds to them. */
const LIMIT_MS = 6_000;
const scope = 'health';

describe('health of a receiver with its store in PostgreSQL', () => {
  const fixture = usePostgres();

  test('says in time that the server is away, and that it is back', async () => {
    const pool = fixture.connect();
    const store = createPostgresStore(pool, { scope });
    const deadLetters = createPostgresDeadLetters(pool, { scope });
    const receiver = createReceiver({ signingKey: KEY, store, deadLetters });
    await until('the pool has its clients', async () => {
      const health = await receiver.health();
      return health.store.ok && health.deadLetters?.ok === true;
    });

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
});
