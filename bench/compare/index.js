/**
 * What a change of posthorn costs or saves: builds of it in one process, by turns. Two processes of the same
 * build differ by several percent, for the whole of their life; two equal builds in one process by about one.
 * That does not hold for stores on a server, whose client the builds share: of two equal builds the second took
 * up to 6 % more. With `--alone` each build has processes of its own.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { observers } from '../contenders/observers.js';
import { pinned } from '../run/pinning.js';
import { startPostgres } from '../run/postgres-server.js';
import { startRedis } from '../run/redis-server.js';
import { median } from '../run/statistics.js';
import { toTable } from '../run/table.js';
import { Turns } from './turns.js';

const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    processes: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '20' },
    events: { type: 'string', default: '6000' },
    'warm-up': { type: 'string', default: '100000' },
    'body-bytes': { type: 'string', default: '700' },
    connections: { type: 'string', default: '50' },
    store: { type: 'string', default: 'memory' },
    alone: { type: 'boolean', default: false },
    journal: { type: 'boolean', default: false },
  },
});
const { store, alone, journal, ...numbers } = values;
if (!['memory', 'redis', 'postgres'].includes(store))
  fail(`--store must be memory, redis or postgres, got "${store}"`);
if (journal && store !== 'postgres') fail('--journal needs --store postgres');
const wrong = Object.entries(numbers).find(([, text]) => !/^[1-9]\d{0,8}$/.test(text));
if (wrong !== undefined) fail(`--${wrong[0]} must be a whole number from 1 on, got "${wrong[1]}"`);
if (names.length < 2)
  fail(
    'name at least two builds: folders that hold src/index.js and adapters/node.js, or "min", or for dist ' +
      `with an observer ${Object.keys(observers)
        .map((name) => `"${name}"`)
        .join(', ')}`,
  );
if (new Set(names.map((name) => resolve(name))).size < names.length)
  fail('a build is named twice, which would run the same code: make a copy of it');

const isWord = (/** @type {string} */ name) => name === 'min' || name in observers;
if (store !== 'memory' && names.some(isWord)) fail('only folders have a store: leave out the other names');
const builds = names.map((name) => (isWord(name) ? name : pathToFileURL(resolve(name)).href));
const course = {
  rounds: Number(values.rounds),
  events: Number(values.events),
  warmUp: Number(values['warm-up']),
  bodyBytes: Number(values['body-bytes']),
  connections: Number(values.connections),
};

if (Math.min(course.events, course.warmUp) < course.connections)
  fail('--events and --warm-up must be at least --connections');

/** @type {import('./turns.js').Measurement[][]} one list for each process */
const measured = [];
for (let count = 0; count < Number(values.processes); count += 1)
  measured.push(alone ? await measureAlone(count) : await measure(builds));

const percent = (/** @type {number} */ ratio) => `${ratio < 1 ? '' : '+'}${(100 * (ratio - 1)).toFixed(1)} %`;
const rows = names.map((name, build) => {
  const ratios = measured.map((process) => process[build].ratio);
  const microseconds = median(measured.map((process) => process[build].microseconds));
  const spread = `${percent(Math.min(...ratios))} to ${percent(Math.max(...ratios))}`;
  const commands = median(measured.map((process) => process[build].commands));
  return [name, microseconds.toFixed(2), percent(median(ratios)), spread, commands.toFixed(2)];
});
const head = ['build', 'µs CPU per event', 'against the first', 'least to greatest', 'commands per event'];
console.log(toTable(head, rows));

/**
 * Measures builds in one process.
 *
 * @param {readonly string[]} together
 */
async function measure(together) {
  const server = await startServer();
  const environment = { STORE: store, JOURNAL: journal ? builds.at(-1) : undefined, ...server.environment };
  const turns = new Turns(together, course, environment);
  try {
    return await turns.measure();
  } finally {
    await turns.stop();
    await server.stop();
  }
}

/**
 * Measures each build in a process of its own.
 *
 * @param {number} first the build that begins: the machine may be slower for those that follow
 */
async function measureAlone(first) {
  /** @type {import('./turns.js').Measurement[]} */
  const results = [];
  for (let step = 0; step < builds.length; step += 1) {
    const build = (first + step) % builds.length;
    [results[build]] = await measure([builds[build]]);
  }
  return results.map((result) => ({ ...result, ratio: result.microseconds / results[0].microseconds }));
}

/** @returns {Promise<{ environment: NodeJS.ProcessEnv, stop: () => Promise<void> }>} */
async function startServer() {
  if (store === 'memory') return { environment: {}, stop: async () => {} };
  if (store === 'redis') {
    const { port, stop } = await startRedis();
    return { environment: { REDIS_PORT: String(port) }, stop };
  }
  const settings = { fsync: 'off', max_wal_size: '4GB' };
  const { url, stop } = await startPostgres(settings, (command) => pinned('store', command));
  return { environment: { POSTGRES_URL: url }, stop };
}

/** @param {string} complaint */
function fail(complaint) {
  console.error(complaint);
  process.exit(2);
}
