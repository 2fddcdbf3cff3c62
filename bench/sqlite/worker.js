/**
 * Claims and completes ids one after the other in a file of SQLite, for a while; sends their number to its
 * parent. `posthorn` does it by createSqliteStore, `hand` by two statements that are written by hand, with the
 * same transactions and syncs.
 */
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { createSqliteStore } from '../../dist/src/stores/sqlite/index.js';
import { openDatabase } from './open-database.js';

const [kind, path, durationMs] = process.argv.slice(2);
const database = openDatabase(String(path));
database.exec('pragma synchronous = full; pragma busy_timeout = 0');

const CLAIM = `insert into hand (id, claimed_until) values (?, ?)
  on conflict (id) do update set claimed_until = excluded.claimed_until
  where hand.completed_at is null and hand.claimed_until < ?`;
const claim = database.prepare(CLAIM);
const complete = database.prepare('update hand set completed_at = ? where id = ?');

/** @param {() => unknown} work */
async function commit(work) {
  for (;;) {
    // As a server would, which has other deliveries to read.
    await setImmediate();
    try {
      database.exec('begin immediate');
      work();
      database.exec('commit');
      return;
    } catch (error) {
      if (!/locked/.test(String(error))) throw error;
      await sleep(1 + Math.random());
    }
  }
}

/** @param {string} id */
async function byHand(id) {
  await commit(() => claim.run(id, Date.now() + 20_000, Date.now()));
  await commit(() => complete.run(Date.now(), id));
}

const store = createSqliteStore(database, { scope: 'bench', commandTimeoutMs: 10_000 });

/** @param {string} id */
async function byPosthorn(id) {
  const request = { id, token: `${process.pid}`, leaseMs: 20_000, retentionMs: 86_400_000 };
  await store.claim(request);
  await store.complete(request);
}

const handle = kind === 'hand' ? byHand : byPosthorn;
const prefix = `${process.pid}.${Date.now()}`;
for (let id = 0; id < 200; id += 1) await handle(`${prefix}.warm-up.${id}`);
let events = 0;
const endsAt = performance.now() + Number(durationMs);
for (; performance.now() < endsAt; events += 1) await handle(`${prefix}.${events}`);
database.close();
process.send?.(events);
