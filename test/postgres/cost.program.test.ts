import type { Store } from 'posthorn';
import { createPostgresStore, migratePostgres } from 'posthorn/postgres';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { until } from '../support/until.ts';
import { usePostgres } from './fixture.ts';

const COUNT = 2_000;
const times = { leaseMs: 20_000, retentionMs: 86_400_000 };

/** Thousands of operations: none is to be given up on a busy machine. */
const commandTimeoutMs = 15_000;

/** 32 characters, as the service's ids have. */
const idOf = (number: number): string => `evt_${String(number).padStart(28, '0')}`;

describe('an event in PostgreSQL costs little', () => {
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
    const store = createPostgresStore(fixture.connect(), { scope: 'hot', commandTimeoutMs });
    for (let first = 0; first < COUNT; first += 100) await handle(numbers.slice(first, first + 100), store);
    fixture.postgres.sql('select pg_stat_force_next_flush()');
    const statistics =
      "select n_tup_upd, n_tup_hot_upd from pg_stat_user_tables where relname = 'events' and schemaname = 'posthorn'";
    let [updates, hot] = [0, 0];
    await until('the updates are counted', () => {
      [updates = 0, hot = 0] = fixture.postgres.sql(statistics).split('|').map(Number);
      return updates >= COUNT * 4;
    });
    expect(hot / updates).toBeGreaterThan(0.9);
    const indexed =
      "select string_agg(distinct attname, ' ' order by attname) from pg_attribute where attrelid in (select indexrelid from pg_index where indrelid = 'posthorn.events'::regclass)";
    expect(fixture.postgres.sql(indexed)).toBe('first_expires_at key scope');
  });

  test('room: at most 450 bytes for a completed one, indexes included', async () => {
    const server = await fixture.servers.single();
    const pool = fixture.connect({ port: server.port });
    await migratePostgres(pool);
    const store = createPostgresStore(pool, { scope: 'billing-1', commandTimeoutMs });
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

  test('statements: operations of one turn share them, and a duplicate writes nothing', async () => {
    const pool = fixture.connect();
    const store = createPostgresStore(pool, { scope: 'shared' });
    const requests = Array.from({ length: 32 }, (_, number) => ({ ...times, id: idOf(number), token: 'a' }));
    await Promise.all(requests.map((request) => store.complete(request)));
    expect(pool.totalCount).toBe(2);
    const written = (): string => fixture.postgres.sql('select pg_snapshot_xmax(pg_current_snapshot())');
    const before = written();
    const results = await Promise.all(requests.map((request) => store.claim({ ...request, token: 'b' })));
    expect(results).toEqual(Array(32).fill({ state: 'completed' }));
    expect(written()).toBe(before);
  });

  test('expired ids are deleted in batches, and no others', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    onTestFinished(() => void vi.restoreAllMocks());
    const rows = (name: string, count: number, first: string, last: string): void => {
      fixture.postgres.sql(
        `insert into posthorn.events (scope, key, first_expires_at, expires_at)
         select 'cleaned', '${name} ' || n, now() + interval '${first}', now() + interval '${last}'
         from generate_series(1, ${count}) as n`,
      );
    };
    rows('expired', 3_500, '-1 hour', '-1 minute');
    rows('renewed', 10, '-1 hour', '1 hour');
    rows('kept', 1_000, '1 hour', '1 hour');
    const left = "select count(*) from posthorn.events where scope = 'cleaned'";
    const store = createPostgresStore(fixture.connect(), { scope: 'cleaning', commandTimeoutMs });
    let number = 0;
    await until('the expired ids are gone', async () => {
      number += 1;
      await store.claim({ ...times, id: idOf(number), token: 'a' });
      return fixture.postgres.sql(left) === '1010';
    });
  });

  test('one process cleans at a time, and passes over rows that are locked', async () => {
    fixture.postgres.sql(
      `insert into posthorn.events (scope, key, first_expires_at, expires_at)
       select 'once', n::text, now() - interval '1 hour', now() - interval '1 hour' from generate_series(1, 10) as n`,
    );
    const holder = await fixture.connect().connect();
    await holder.query('begin');
    await holder.query("select from posthorn.events where scope = 'once' and key in ('1', '2') for update");
    await holder.query("select from posthorn.events where scope = 'hot' limit 1 for share");
    expect(fixture.postgres.sql('select posthorn.clean(1000)')).toBe('8');
    await holder.query('select posthorn.clean(1)');
    expect(fixture.postgres.sql('select posthorn.clean(1000)')).toBe('0');
    await holder.query('rollback');
    holder.release();
    expect(fixture.postgres.sql('select posthorn.clean(1000)')).toBe('2');
  });
});
