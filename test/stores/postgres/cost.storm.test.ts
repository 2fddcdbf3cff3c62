import type { Receiver, Store } from 'posthorn';
import { createPostgresStore, migratePostgres } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { openDirectly } from '../../support/open-endpoint.ts';
import { until } from '../../support/until.ts';
import { usePostgres } from './fixture.ts';

const COUNT = 2_000;
const times = { leaseMs: 20_000, retentionMs: 86_400_000 };

/** 32 characters, as the service's ids have. */
const idOf = (number: number): string => `evt_${String(number).padStart(28, '0')}`;

describe('thousands of events in PostgreSQL cost little', () => {
  // What runs in the background would write, too.
  const fixture = usePostgres({ autovacuum: 'off', checkpoint_timeout: '1h' });

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

  test('writes: a concurrency key adds some 450 bytes to the write-ahead log of an event, and its row is short', async () => {
    const store = createPostgresStore(fixture.connect(), { scope: 'keyed', ...ampleTime });
    const ids = Array.from({ length: 500 }, (_, number) => `tr_${String(number).padStart(29, '0')}`);
    const held = "select count(*) from posthorn.events where scope = 'keyed' and lease_ends_at is not null";
    const bytesOf = async (register: (receiver: Receiver) => void): Promise<number> => {
      const { send } = openDirectly({ store }, register);
      const sendAll = () => Promise.all(ids.map((id) => send(createEvent('transfer.created', { id }))));
      // The first event of each key inserts its row.
      await sendAll();
      const before = await fixture.sql('select pg_current_wal_insert_lsn()');
      await sendAll();
      await until('each key is released', async () => (await fixture.sql(held)) === '0');
      const written = `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '${before}')`;
      return Number(await fixture.sql(written)) / ids.length;
    };
    const plain = await bytesOf((receiver) => receiver.on('*', () => {}, { name: 'book' }));
    const keyed = await bytesOf((receiver) =>
      receiver.on('*', () => {}, { name: 'book', concurrencyKey: ({ data }) => String(data.id) }),
    );
    const longest = "select max(pg_column_size(e.*)) from posthorn.events e where key like 'handled:key:%'";
    const row = Number(await fixture.sql(longest));
    const rounded = { plain: Math.round(plain), keyed: Math.round(keyed), row };
    process.stdout.write(`bytes in PostgreSQL: ${JSON.stringify(rounded)}\n`);
    expect(keyed - plain).toBeGreaterThan(200);
    expect(keyed - plain).toBeLessThan(1_200);
    expect(row).toBeLessThan(200);
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
