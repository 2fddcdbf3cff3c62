/**
 * What a change of posthorn costs or saves: builds of it in one process, by turns. Two processes of the same
 * build differ by several percent, for the whole of their life; two equal builds in one process by about one.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { observers } from '../contenders/observers.js';
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
  },
});
const wrong = Object.entries(values).find(([, text]) => !/^[1-9]\d{0,8}$/.test(text));
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

/** @type {{ microseconds: number, ratio: number }[][]} one list for each process */
const measured = [];
for (let count = 0; count < Number(values.processes); count += 1) {
  const turns = new Turns(builds, course);
  try {
    measured.push(await turns.measure());
  } finally {
    await turns.stop();
  }
}

const percent = (/** @type {number} */ ratio) => `${ratio < 1 ? '' : '+'}${(100 * (ratio - 1)).toFixed(1)} %`;
const rows = names.map((name, build) => {
  const ratios = measured.map((process) => process[build].ratio);
  const microseconds = median(measured.map((process) => process[build].microseconds));
  const spread = `${percent(Math.min(...ratios))} to ${percent(Math.max(...ratios))}`;
  return [name, microseconds.toFixed(2), percent(median(ratios)), spread];
});
console.log(toTable(['build', 'µs CPU per event', 'against the first', 'least to greatest'], rows));

/** @param {string} complaint */
function fail(complaint) {
  console.error(complaint);
  process.exit(2);
}
