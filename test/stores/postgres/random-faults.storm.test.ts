import type { Pool } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { useRedis } from '../redis/fixture.ts';
import { usePostgres } from './fixture.ts';
import { bookings, createLedger } from './ledger.ts';
import type { StopMode } from './server-process.ts';
import { Storm, type StormOptions } from './storm.ts';

describe('receivers that are killed at random', () => {
  const fixture = usePostgres({ fsync: 'on' });

  /** Runs a storm, and sees that the books have each acknowledged event once. */
  async function weather(
    options: Pick<StormOptions, 'seed' | 'leastEvents' | 'leastKills' | 'troubles'>,
    env: NodeJS.ProcessEnv = {},
  ): Promise<void> {
    const pool = fixture.connect({ connectionTimeoutMillis: 5_000 });
    await createBooks(pool);
    const storm = new Storm({
      ...options,
      env: { POSTGRES_URL: fixture.url(), ...env },
      isBooked: async (event) => (await bookings(pool, event)) > 0,
    });
    onTestFinished(() => storm.stop());
    await storm.run();

    const { crashes, early, acknowledged, counts } = storm;
    process.stdout.write(`storm: ${JSON.stringify({ seed: options.seed, ...counts })}\n`);
    expect(crashes).toEqual([]);
    expect(early).toEqual([]);
    expect(acknowledged.size).toBe(counts.events);
    for (const table of ['ledger', 'clearing'] as const) {
      const booked = await bookingsIn(pool, table);
      expect([...acknowledged].filter((id) => !booked.has(id))).toEqual([]);
      expect([...booked].filter(([id, count]) => count !== 1 || !acknowledged.has(id))).toEqual([]);
    }
    const { rows } = await pool.query(AGREEMENT);
    expect(rows).toEqual([{ difference: 0, unbalanced: 0 }]);
    // Some died between the commit and the store's record, and the inbox knew of it.
    expect(counts.diedAfterCommit).toBeGreaterThan(0);
    expect(counts.skipped).toBeGreaterThan(0);
  }

  test('and whose server is restarted book every acknowledged event once', async () => {
    const restart =
      (mode: StopMode) =>
      async (storm: Storm): Promise<void> => {
        await fixture.postgres.stop(mode);
        await storm.deliveries(10);
        await fixture.postgres.restart();
      };
    await weather({
      seed: 1,
      leastEvents: 160,
      leastKills: 8,
      troubles: [restart('fast'), restart('immediate')],
    });
  });

  describe('with the ids of events in Redis', () => {
    const fixtureOfRedis = useRedis();

    test('which is emptied in between, book every acknowledged event once', async () => {
      const { redis } = fixtureOfRedis;
      const empty = async (): Promise<void> => void redis.command('flushall');
      await weather(
        { seed: 2, leastEvents: 80, leastKills: 4, troubles: [empty, empty] },
        { REDIS_PORT: String(redis.port) },
      );
    });
  });
});

/** Two tables without a unique index, whose sums cancel each other out, and the balances of the first. */
async function createBooks(pool: Pool): Promise<void> {
  await createLedger(pool);
  await pool.query(`
create table if not exists clearing (event_id text not null, amount integer);
create table if not exists balances (account integer primary key, amount bigint not null);
truncate ledger, clearing, balances;
insert into balances values (0, 0), (1, 0), (2, 0)`);
}

/** How often each event is booked. */
async function bookingsIn(pool: Pool, table: 'ledger' | 'clearing'): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ id: string; count: number }>(
    `select event_id as id, count(*)::int as count from ${table} group by event_id`,
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}

const AGREEMENT = `select
((select sum(amount) from ledger) + (select sum(amount) from clearing))::int as difference,
(select count(*)::int from balances where amount <> (
  select coalesce(sum(ledger.amount), 0) from ledger where ledger.amount % 3 = account
)) as unbalanced`;
