/**
 * Starts two Workers on one D1 database in workerd, the migration applied, and prints as one line of JSON what
 * they answer, also while workerd is killed and frozen.
 */
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';
import { createEvent, deliver } from 'posthorn/testing';

const key = 'matrix-key';
const NAMES = ['first', 'second'];
const STORM_EVENTS = 300;
const SENDERS = 10;
const KILLS = 4;
const FREEZE_MS = 3_000;

const bundling = { bundle: true, format: 'esm', external: ['node:*'], write: false, minify: true };
const { outputFiles } = await build({ entryPoints: ['worker.js'], ...bundling });
const folder = mkdtempSync(join(tmpdir(), 'posthorn-d1-'));

let workers;
/** Where each Worker listens. */
let addresses = [];

async function start() {
  workers = new Miniflare({
    d1Persist: folder,
    workers: NAMES.map((name) => ({
      name,
      modules: true,
      script: outputFiles[0].text,
      compatibilityDate: process.argv[2],
      compatibilityFlags: ['nodejs_compat'],
      d1Databases: { DB: 'posthorn-matrix' },
      unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
    })),
  });
  await workers.ready;
  addresses = await Promise.all(NAMES.map((name) => workers.unsafeGetDirectURL(name)));
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The id of the process of workerd, which is a child of this one. */
function workerd() {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const [, name, parent] = /^\d+ \((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'));
      if (name === 'workerd' && Number(parent) === process.pid) return Number(pid);
    } catch {
      // It has ended meanwhile.
    }
  }
  throw new Error('workerd does not run');
}

async function send(event, address = addresses[Math.floor(Math.random() * addresses.length)]) {
  const response = await deliver(address, event, { key });
  const { outcome, code } = await response.json();
  return { status: response.status, outcome: outcome ?? code };
}

async function rows(sql) {
  const { DB } = await workers.getBindings('first');
  return (await DB.prepare(sql).all()).results;
}

async function tool(name) {
  return (await fetch(new URL(name, addresses[0]))).json();
}

/** Forty events, each to both Workers at once, twice. */
async function together() {
  const counts = {};
  const events = Array.from({ length: 40 }, () => createEvent('transfer.succeeded'));
  for (const event of events) {
    const answers = await Promise.all([...addresses, ...addresses].map((address) => send(event, address)));
    for (const { outcome } of answers) counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  const ids = events.map(({ id }) => `'${id}'`).join(', ');
  const counted = await rows(`select count(*) as n from handled where id in (${ids})`);
  return { ...counts, handled: counted[0].n, last: events.at(-1) };
}

async function restart() {
  await workers.dispose();
  await start();
}

/** Kills and freezes workerd while senders try each event until it is acknowledged. */
async function storm() {
  const acknowledged = new Set();
  const again = [];
  let isRestarting = Promise.resolve();
  const sendUntilAcknowledged = async (event) => {
    for (;;) {
      await isRestarting;
      const wasCompleted = acknowledged.has(event.id);
      const answer = await Promise.race([send(event).catch(() => undefined), pause(10_000)]);
      if (answer?.status !== 200) {
        await pause(20);
        continue;
      }
      if (wasCompleted && answer.outcome === 'processed') again.push(event.id);
      acknowledged.add(event.id);
      return;
    }
  };
  const events = Array.from({ length: STORM_EVENTS }, () => createEvent('transfer.succeeded'));
  const waiting = [...events];
  const sendAll = async () => {
    for (let event = waiting.pop(); event !== undefined; event = waiting.pop()) {
      await sendUntilAcknowledged(event);
      if (Math.random() < 0.2) await sendUntilAcknowledged(event);
    }
  };
  let kills = 0;
  const trouble = async () => {
    const step = Math.floor(STORM_EVENTS / (KILLS + 2));
    for (let left = STORM_EVENTS - step; left > step; left -= step) {
      while (waiting.length > left) await pause(1);
      process.kill(workerd(), kills === 1 ? 'SIGSTOP' : 'SIGKILL');
      if (kills === 1) {
        await pause(FREEZE_MS);
        process.kill(workerd(), 'SIGCONT');
      }
      kills += 1;
      if (kills !== 2) {
        isRestarting = restart();
        await isRestarting;
      }
    }
  };
  await Promise.all([trouble(), ...Array.from({ length: SENDERS }, sendAll)]);
  for (const event of events) await sendUntilAcknowledged(event);
  const handled = new Set((await rows('select id from handled')).map(({ id }) => id));
  const lost = events.filter(({ id }) => !handled.has(id)).length;
  return { events: acknowledged.size, troubles: kills, lost, handledAgain: again.length };
}

await start();
const { DB } = await workers.getBindings('first');
const migration = readFileSync('migration.sql', 'utf8').split(/;\s*\n/);
for (const sql of migration.filter((statement) => statement.trim() !== '')) await DB.prepare(sql).run();
await DB.prepare('create table handled (id text)').run();
const { last, ...sentTogether } = await together();
const results = {
  conformance: await tool('/conformance'),
  costs: await tool('/costs'),
  letters: await tool('/letters'),
  together: sentTogether,
};
await restart();
results.afterRestart = await Promise.all(
  addresses.map(async (address) => (await send(last, address)).outcome),
);
results.storm = await storm();
process.stdout.write(`${JSON.stringify(results)}\n`);
await workers.dispose();
