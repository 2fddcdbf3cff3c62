/**
 * createSqliteStore beside a claim and a completion that are written by hand, in one process and in four, in
 * rounds that take turns. Prints the events a second of each, and the ratio of each pair of rounds.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrateSqlite } from '../../dist/src/stores/sqlite/index.js';
import { openDatabase } from './open-database.js';

const ROUNDS = 7;
const ROUND_MS = 3_000;
const worker = fileURLToPath(new URL('worker.js', import.meta.url));

/**
 * @param {string} kind
 * @param {string} path
 * @returns {Promise<number>} events a second
 */
async function run(kind, path, processes = 1) {
  const children = Array.from({ length: processes }, () => fork(worker, [kind, path, String(ROUND_MS)]));
  const counts = await Promise.all(children.map(async (child) => Number((await once(child, 'message'))[0])));
  return (counts.reduce((sum, count) => sum + count, 0) * 1_000) / ROUND_MS;
}

/** @param {readonly number[]} values */
function describe(values, digits = 0) {
  const sorted = values.toSorted((one, other) => one - other);
  const [least, middle, most] = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
  return `${middle?.toFixed(digits)} (${least?.toFixed(digits)}–${most?.toFixed(digits)})`;
}

const directory = mkdtempSync(join(tmpdir(), 'posthorn-bench-'));
try {
  for (const processes of [1, 4]) {
    const path = join(directory, `${processes}.db`);
    const database = openDatabase(path);
    await migrateSqlite(database);
    database.exec('create table hand (id text primary key, claimed_until integer, completed_at integer)');
    database.close();
    /** @type {Record<'hand' | 'posthorn', number[]>} */
    const rates = { hand: [], posthorn: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const kind of /** @type {const} */ (['hand', 'posthorn']))
        rates[kind].push(await run(kind, path, processes));
    }
    const ratios = rates.posthorn.map((rate, round) => rate / (rates.hand[round] ?? 0));
    process.stdout.write(`processes ${processes}: by hand ${describe(rates.hand)} events/s, `);
    process.stdout.write(`posthorn ${describe(rates.posthorn)}, ratio ${describe(ratios, 2)}\n`);
  }
} finally {
  rmSync(directory, { recursive: true });
}
