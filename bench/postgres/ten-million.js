// What a claim and a completion take with few rows in the table, with millions, and while millions of expired
// ones are deleted. Starts a PostgreSQL of its own.
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { createPostgresStore, migratePostgres } from '../../dist/src/postgres/index.js';
import { startPostgres } from '../run/postgres-server.js';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    seconds: { type: 'string', default: '60' },
    concurrency: { type: 'string', default: '16' },
  },
});
const [rows, seconds, concurrency] = [values.rows, values.seconds, values.concurrency].map(Number);
const times = { leaseMs: 20_000, retentionMs: 86_400_000 };

const server = await startPostgres({ max_wal_size: '4GB' });
const pool = new pg.Pool({ connectionString: server.url });
try {
  await migratePostgres(pool);
  await insertRows(1_000, 'kept');
  await measure('1,000 rows', 5);
  await measure('1,000 rows', seconds / 3);

  await insertRows(rows, 'kept');
  await measure(`${rows.toLocaleString('en-US')} rows more`, seconds / 3);

  const expired = Math.round(rows / 10);
  await insertRows(expired, 'expired');
  await measure(`while ${expired.toLocaleString('en-US')} expired rows are deleted`, seconds);
  const { rows: left } = await pool.query(
    "select count(*) as count from posthorn.events where scope = 'expired'",
  );
  console.log(`deleted meanwhile: ${(expired - Number(left[0].count)).toLocaleString('en-US')}`);
} finally {
  await pool.end();
  await server.stop();
}

/**
 * Completed ids, either expired or with retentions that end in the course of a day.
 *
 * @param {number} count
 * @param {'kept' | 'expired'} scope
 */
async function insertRows(count, scope) {
  const expiry = scope === 'kept' ? "now() + n * interval '1 day' / $1" : "now() - interval '1 minute'";
  await pool.query(
    `insert into posthorn.events (scope, key, first_expires_at, expires_at)
     select '${scope}', 'evt_' || lpad(md5(n::text), 28, '0'), ${expiry}, ${expiry}
     from generate_series(1, $1::integer) as n on conflict do nothing`,
    [count],
  );
  await pool.query('vacuum analyze posthorn.events');
  await pool.query('checkpoint');
}

/**
 * Claims and completes new ids, `concurrency` at once, and prints how long that takes.
 *
 * @param {string} title
 * @param {number} duration in seconds
 */
async function measure(title, duration) {
  // The first cleaning comes within a minute, at random: here at once.
  const { random } = Math;
  Math.random = () => 0;
  const store = createPostgresStore(pool, { scope: 'bench' });
  Math.random = random;
  /** @type {{ claim: number[], complete: number[] }} */
  const latencies = { claim: [], complete: [] };
  const before = await counters();
  const endsAt = performance.now() + duration * 1_000;
  const work = async () => {
    while (performance.now() < endsAt) {
      const request = { ...times, id: `evt_${randomUUID()}`, token: randomUUID() };
      const startedAt = performance.now();
      await store.claim(request);
      const claimedAt = performance.now();
      await store.complete(request);
      latencies.claim.push(claimedAt - startedAt);
      latencies.complete.push(performance.now() - claimedAt);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  const after = await counters();
  const hot = (after.hot - before.hot) / (after.updated - before.updated);
  const perSecond = Math.round(latencies.claim.length / duration).toLocaleString('en-US');
  console.log(
    `${title}: ${perSecond} events/s, claim ${percentiles(latencies.claim)}, ` +
      `complete ${percentiles(latencies.complete)}, HOT ${(hot * 100).toFixed(1)} %`,
  );
}

async function counters() {
  // Statistics are told once a second at most.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const { rows } = await pool.query(
    "select n_tup_upd as updated, n_tup_hot_upd as hot from pg_stat_user_tables where relname = 'events'",
  );
  return { updated: Number(rows[0].updated), hot: Number(rows[0].hot) };
}

/** @param {number[]} latencies */
function percentiles(latencies) {
  const sorted = Float64Array.from(latencies).sort();
  const at = (/** @type {number} */ share) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(2);
  return `${at(0.5)} ms (p99 ${at(0.99)}, worst ${sorted.at(-1)?.toFixed(0)})`;
}
