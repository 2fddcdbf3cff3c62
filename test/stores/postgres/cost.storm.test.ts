import type { Store } from 'posthorn';
import { createPostgresStore, migratePostgres } from 'posthorn/postgres';
import { describe, expect, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { until } from '../../support/until.ts';
import { usePostgres } from './fixture.ts';

const COUNT = 2_000;
const times = { leaseMs: 20_000, retentionMs: 86_400_000 };

/** 32 characters, as the service's ids have. */
const idOf = (number: number): string => `evt_${String(number).padStart(28, '0')}`;

describe('thousands of events in PostgreSQL cost little', () => {
  // What runs in the background would write, too.
  const fixture = usePostgres({ autovacuum: 'off' });

  async function handle(numbers: readonly number[], store: Store): Promise<void> {
    await Promise.all(
      numbers.map(async (number) => {
        const request = {
          ...times,
          id: idOf(number),
          token: `1b4e28ba-2fa1-11d2-883f-${number}`,
          handled: [],
        };
        await store.claim(request);
        await store.renew(request);
        await store.release({ ...request, handled: ['book'] });
        await store.claim(request);
        await store.complete(request);
      }),
    );
  }

  test('writes: an update touches no index', async () => {
    const numbers = Array.from({ length: COUNT }, (_, number) => number);
    const store = createPostgresStore(fixture.connect(), { scope: 'hot', ...ampleTime });
    for (let first = 0; first < COUNT; first += 100) await handle(numbers.slice(first, first + 100), store);
    await fixture.sql('select pg_stat_force_next_flush()');
    const statistics =
      "select n_tup_upd, n_tup_hot_upd from pg_stat_user_tables where relname = 'events' and schemaname = 'posthorn'";
    let [updates, hot] = [0, 0];
    await until('the updates are counted', async () => {
      [updates = 0, hot = 0] = (await fixture.sql(statistics)).split('|').map(Number);
      return updates >= COUNT * 4;
    });
    expect(hot / updates).toBeGreaterThan(0.9);
    const indexed =
      "select string_agg(distinct attname, ' ' order by attname) from pg_attribute where attrelid in (select indexrelid from pg_index where indrelid = 'posthorn.events'::regclass)";
    expect(await fixture.sql(indexed)).toBe('first_expires_at key scope');
  });

  test('statements: a duplicate writes nothing', async () => {
    const store = createPostgresStore(fixture.connect(), { scope: 'repeated', ...ampleTime });
    const requests = Array.from({ length: 32 }, (_, number) => ({ ...times, id: idOf(number), token: 'a' }));
    await Promise.all(requests.map((request) => store.complete(request)));
    // The next number of a transaction that writes, in whatever database of the server.
    const written = (): Promise<string> => fixture.sql('select pg_snapshot_xmax(pg_current_snapshot())');
    const before = await written();
    const results = await Promise.all(requests.map((request) => store.claim({ ...request, token: 'b' })));
    expect(results).toEqual(Array(32).fill({ state: 'completed' }));
    expect(await written()).toBe(before);
  });

  test('room: at most 450 bytes for a completed one, indexes included', async () => {
    const server = await fixture.servers.single();
    const pool = fixture.connect({ port: server.port });
    await migratePostgres(pool);
    const store = createPostgresStore(pool, { scope: 'billing-1', ...ampleTime });
    for (let first = 0; first < 10_000; first += 100) {
      await Promise.all(
        Array.from({ length: 100 }, async (_, index) => {
          const request = { ...times, id: idOf(first + index), token: crypto.randomUUID() };
          await store.claim(request);
          await store.complete(request);
        }),
      );
    }
    const bytes = Number(server.sql("select pg_total_relation_size('posthorn.events')"));
    expect(bytes / 10_000).toBeLessThan(450);
  });
});
