// What claims and completions take with 1,000 rows in the table, with millions, and while expired rows are
// deleted. The tables take their turn, and again, so that what disturbs the machine disturbs them all. Starts a
// PostgreSQL of its own.
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { createPostgresStore, migratePostgres } from '../../dist/src/stores/postgres/index.js';
import { startPostgres } from '../run/postgres-server.js';
import { median, ratios } from '../run/statistics.js';
import { toTable } from '../run/table.js';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    rounds: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '3' },
    concurrency: { type: 'string', default: '16' },
    fsync: { type: 'string', default: 'off' },
  },
});
const [rows, rounds, seconds, concurrency] = [
  values.rows,
  values.rounds,
  values.seconds,
  values.concurrency,
].map(Number);
const FEW = 1_000;
/** The most that is deleted in a second: no turn is to run out of expired rows. */
const DELETED_PER_SECOND = 10_000;
const times = { leaseMs: 20_000, retentionMs: 86_400_000 };

/**
 * @typedef {object} Turn
 * @property {number} perSecond events that were claimed and completed
 * @property {number} cpu microseconds of the server for each of them
 * @property {number} wal bytes that the server wrote to its log for each of them
 */

// Without fsync, as in the other benchmarks: a disk that others use as well would be measured.
const settings = {
  fsync: values.fsync,
  max_wal_size: '8GB',
  checkpoint_timeout: '1h',
  shared_buffers: '2GB',
};
const server = await startPostgres(settings);
// No connection is closed while its processor time is counted.
const pool = new pg.Pool({ connectionString: server.url, idleTimeoutMillis: 0 });
try {
  await prepare();
  const calm = await takeTurns();
  const { size, indexes } = await sizeOf('many');
  const expired = Math.ceil(2 * rounds * seconds * DELETED_PER_SECOND);
  await insertRows('many', expired, 'expired');
  await settle();
  const deleting = await takeTurns();
  const deleted = expired - (await count("many.events where scope = 'expired'"));
  const deletedPerSecond = Math.round(deleted / ((rounds + 1) * seconds));

  const rest = (/** @type {string} */ title) => `${rows.toLocaleString('en-US')} rows${title}`;
  console.log(
    `\n${rounds} turns of ${seconds} s each, ${concurrency} events at once, fsync ${values.fsync}\n`,
  );
  console.log(
    toTable(
      ['table', 'events/s', 'min–max', 'ratio', 'server, µs each', 'ratio', 'log, bytes each'],
      [
        row('1,000 rows', calm.few, calm.few),
        row(rest(''), calm.many, calm.few),
        row('1,000 rows, again', deleting.few, deleting.few),
        row(
          rest(`, and ${deletedPerSecond.toLocaleString('en-US')} deleted a second`),
          deleting.many,
          deleting.few,
        ),
      ],
    ),
  );
  console.log(`\n${size} with its indexes, of which the indexes are ${indexes}; ${await hotShare()}`);
} finally {
  await pool.end();
  await server.stop();
}

async function prepare() {
  for (const schema of ['few', 'many']) await migratePostgres(pool, { schema });
  const startedAt = performance.now();
  await insertRows('many', rows, 'kept');
  await settle();
  console.log(`prepared in ${Math.round((performance.now() - startedAt) / 1_000)} s`);
}

/**
 * Completed ids, either expired or with retentions that end in the course of a day.
 *
 * @param {'few' | 'many'} schema
 * @param {number} count
 * @param {'kept' | 'expired'} scope
 */
async function insertRows(schema, count, scope) {
  const expiry = scope === 'kept' ? "now() + n * interval '1 day' / $1" : "now() - interval '1 minute'";
  await pool.query(
    `insert into ${schema}.events (scope, key, first_expires_at, expires_at)
     select '${scope}', 'evt_' || left(md5(n::text), 28), ${expiry}, ${expiry}
     from generate_series(1, $1::integer) as n on conflict do nothing`,
    [count],
  );
}

/** What was inserted has been vacuumed, and is on the disk: none of that is to happen in a turn. */
async function settle() {
  await pool.query('vacuum analyze many.events');
  await pool.query('checkpoint');
}

/** @returns {Promise<{ few: Turn[], many: Turn[] }>} */
async function takeTurns() {
  const stores = { few: openStore('few'), many: openStore('many') };
  /** @type {{ few: Turn[], many: Turn[] }} */
  const turns = { few: [], many: [] };
  // The first round warms up: the code, the connections, and the pages that a checkpoint has left cold.
  for (let round = 0; round <= rounds; round += 1) {
    for (const schema of /** @type {const} */ (['few', 'many'])) {
      if (schema === 'few') await refill();
      const turn = await measure(stores[schema]);
      if (round > 0) turns[schema].push(turn);
      process.stdout.write(`${schema} ${Math.round(turn.perSecond)}/s  `);
    }
  }
  console.log();
  return turns;
}

/** A store that looks for expired rows at once, rather than some time in its first minute. */
function openStore(/** @type {string} */ schema) {
  const { random } = Math;
  Math.random = () => 0;
  try {
    return createPostgresStore(pool, { scope: 'bench', schema });
  } finally {
    Math.random = random;
  }
}

/** What a turn has left behind would be the larger part of a small table. */
async function refill() {
  await pool.query('truncate few.events');
  await insertRows('few', FEW, 'kept');
  await pool.query('vacuum analyze few.events');
}

/**
 * Claims and completes new ids, `concurrency` at once.
 *
 * @param {import('../../dist/src/index.js').Store} store
 * @returns {Promise<Turn>}
 */
async function measure(store) {
  let events = 0;
  const before = await spent();
  const startedAt = performance.now();
  const work = async () => {
    while (performance.now() < startedAt + seconds * 1_000) {
      const request = { ...times, id: `evt_${randomUUID()}`, token: randomUUID() };
      await store.claim(request);
      await store.complete(request);
      events += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  const elapsed = (performance.now() - startedAt) / 1_000;
  const after = await spent();
  return {
    perSecond: events / elapsed,
    cpu: (after.cpu - before.cpu) / events,
    wal: (after.wal - before.wal) / events,
  };
}

/** Bytes of the log so far, and, where Linux tells it, the processor time of the connections in microseconds. */
async function spent() {
  const { rows: backends } = await pool.query(
    "select pid, pg_current_wal_lsn() - '0/0' as wal from pg_stat_activity where backend_type = 'client backend'",
  );
  const cpu = backends.map(({ pid }) => {
    const path = `/proc/${pid}/schedstat`;
    return existsSync(path) ? Number(readFileSync(path, 'utf8').split(' ')[0]) / 1_000 : Number.NaN;
  });
  return { cpu: cpu.reduce((sum, one) => sum + one, 0), wal: Number(backends[0].wal) };
}

/**
 * @param {string} title
 * @param {readonly Turn[]} turns
 * @param {readonly Turn[]} few those that alternated with them
 */
function row(title, turns, few) {
  const of = (/** @type {readonly Turn[]} */ some, /** @type {keyof Turn} */ key) =>
    some.map((turn) => turn[key]);
  const whole = (/** @type {number} */ value) => Math.round(value).toLocaleString('en-US');
  const ratio = (/** @type {keyof Turn} */ key) => median(ratios(of(turns, key), of(few, key))).toFixed(2);
  const rates = of(turns, 'perSecond');
  return [
    title,
    whole(median(rates)),
    `${whole(Math.min(...rates))}–${whole(Math.max(...rates))}`,
    ratio('perSecond'),
    whole(median(of(turns, 'cpu'))),
    ratio('cpu'),
    whole(median(of(turns, 'wal'))),
  ];
}

/** @param {string} from */
async function count(from) {
  const { rows: counted } = await pool.query(`select count(*) as count from ${from}`);
  return Number(counted[0].count);
}

/** @param {string} schema */
async function sizeOf(schema) {
  const { rows: sizes } = await pool.query(
    `select pg_size_pretty(pg_total_relation_size('${schema}.events')) as size,
       pg_size_pretty(pg_indexes_size('${schema}.events')) as indexes`,
  );
  return sizes[0];
}

async function hotShare() {
  // Statistics are told once a second at most.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const { rows: updates } = await pool.query(
    `select round(100.0 * n_tup_hot_upd / n_tup_upd, 1) as hot from pg_stat_user_tables
     where schemaname = 'many' and relname = 'events'`,
  );
  return `${updates[0].hot} % of the updates were HOT`;
}
