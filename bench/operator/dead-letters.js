// The time that an operator waits for a page of 50 dead letters, of 10,000 with a body of 2 kB: for the first
// page, for one in the middle, and until a Chromium shows the view, which asks for the page and for the health.
// Starts a PostgreSQL of its own. One request follows the other.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { createReceiver } from '../../dist/src/index.js';
import { toNodeOperator } from '../../dist/src/operator/index.js';
import { createPostgresDeadLetters, migratePostgres } from '../../dist/src/stores/postgres/index.js';
import { createSqliteDeadLetters, migrateSqlite } from '../../dist/src/stores/sqlite/index.js';
import { startPostgres } from '../run/postgres-server.js';
import { toTable } from '../run/table.js';
import { timesUntilShown } from './shown-page.js';

const { values } = parseArgs({
  options: {
    letters: { type: 'string', default: '10000' },
    requests: { type: 'string', default: '200' },
  },
});
const [letters, requests] = [values.letters, values.requests].map(Number);
const WARM_UP = 50;
const scope = 'bench';

const directory = mkdtempSync(join(tmpdir(), 'posthorn-bench-'));
const server = await startPostgres({ fsync: 'off' });
const pool = new pg.Pool({ connectionString: server.url });
const Database = createRequire(import.meta.url)('libsql');
const database = new Database(join(directory, 'events.db'));
try {
  await migratePostgres(pool);
  await migrateSqlite(database);
  const rows = [
    ...(await measure('PostgreSQL', createPostgresDeadLetters(pool, { scope }))),
    ...(await measure('SQLite', createSqliteDeadLetters(database, { scope }))),
  ];
  console.log(toTable(['store', 'page', 'median', 'p95', 'bytes'], rows));
} finally {
  database.close();
  await pool.end();
  await server.stop();
  rmSync(directory, { recursive: true });
}

/**
 * @param {string} name
 * @param {import('../../dist/src/index.js').DeadLetters} deadLetters
 * @returns {Promise<string[][]>} rows of the table
 */
async function measure(name, deadLetters) {
  const ids = await fill(deadLetters);
  const receiver = createReceiver({ signingKey: 'whsec_of_the_benchmark', deadLetters });
  const operator = toNodeOperator(receiver, { path: '/operator', authorize: () => ({ name: 'bench' }) });
  const http = createServer(operator).listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (http.address());
  const url = `http://127.0.0.1:${port}/operator/api/dead-letters?limit=50`;
  const rows = [];
  for (const [page, after] of [
    ['the first', ''],
    ['in the middle', `&after=${ids[ids.length / 2]}`],
  ])
    rows.push([name, page, ...(await timesOf(url + after))]);
  const shown = await timesUntilShown(`http://127.0.0.1:${port}/operator/`, requests);
  rows.push([name, 'the view in Chromium', ...spreadOf(shown), '']);
  http.close();
  http.closeAllConnections();
  return rows;
}

/** @param {import('../../dist/src/index.js').DeadLetters} deadLetters */
async function fill({ put }) {
  const data = { note: 'x'.repeat(1_900) };
  const ids = [];
  for (let index = 0; index < letters; index += 1) {
    const id = `evt_${randomUUID()}`;
    const rawBody = Buffer.from(JSON.stringify({ id, type: 'transfer.succeeded', data }));
    const headers = { 'content-type': ['application/json'] };
    const times = { receivedAt: Date.now() - letters + index, parkedAt: Date.now() - letters + index };
    const reason = { reason: 'handler_failed', message: 'a handler failed: out of order' };
    await put({
      id,
      type: 'transfer.succeeded',
      ...reason,
      rawBody,
      headers,
      ...times,
      attempts: 4,
      handled: [],
    });
    ids.push(id);
  }
  return ids;
}

/** @param {string} url */
async function timesOf(url) {
  /** @type {number[]} */
  const times = [];
  let bytes = 0;
  for (let count = 0; count < WARM_UP + requests; count += 1) {
    const startedAt = performance.now();
    const response = await fetch(url);
    bytes = (await response.arrayBuffer()).byteLength;
    if (response.status !== 200) throw new Error(`the interface answered ${response.status}`);
    if (count >= WARM_UP) times.push(performance.now() - startedAt);
  }
  return [...spreadOf(times), String(bytes)];
}

/** @param {readonly number[]} times */
function spreadOf(times) {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (/** @type {number} */ share) => `${sorted[Math.floor(share * sorted.length)]?.toFixed(1)} ms`;
  return [at(0.5), at(0.95)];
}
