/**
 * Micro benchmarks by subject: `delivery`, `opentelemetry`, `verify`, `envelope`, `router`, `stores`; all of
 * them by default.
 */
import { run } from 'mitata';
import { toTable } from '../run/table.js';
import * as delivery from './delivery.js';
import * as envelope from './envelope.js';
import * as opentelemetry from './opentelemetry.js';
import * as router from './router.js';
import * as stores from './stores.js';
import * as verify from './verify.js';

const wanted = process.argv.slice(2);
const chosen = [delivery, opentelemetry, verify, envelope, router, stores].filter(
  ({ title }) => wanted.length === 0 || wanted.includes(title),
);
const stops = [];
for (const { register } of chosen) stops.push(await register());
const { benchmarks } = await run({ colors: process.stdout.isTTY });
for (const stop of stops) await stop?.();
if (chosen.includes(verify)) {
  printFastestOthers();
  printVerifyPairs();
}

/** posthorn and the fastest of the others at each size, by the medians. */
function printFastestOthers() {
  const rows = verify.sizes.map((bytes) => {
    const medians = mediansOf(verify.suffixOf(bytes));
    const own = medians.get(verify.contender) ?? Number.NaN;
    const others = [...medians]
      .filter(([name]) => !name.startsWith('posthorn'))
      .sort(([, a], [, b]) => a - b);
    const [best, fastest] = others[0];
    return [
      `${bytes} B`,
      `${own.toFixed(0)} ns`,
      `${fastest.toFixed(0)} ns: ${best}`,
      (fastest / own).toFixed(2),
    ];
  });
  console.log(`\n${toTable(['verify', verify.contender, 'the fastest other', 'ratio'], rows)}`);
}

/**
 * @param {string} suffix
 * @returns {Map<string, number>} nanoseconds by the name of the benchmark
 */
function mediansOf(suffix) {
  const chosen = benchmarks.filter(({ alias }) => alias.endsWith(suffix));
  return new Map(
    chosen.map(({ alias, runs }) => [alias.slice(0, -suffix.length), runs[0].stats?.p50 ?? Number.NaN]),
  );
}

/** Whether posthorn is faster than `createHmac`, and `createHmac` faster than itself, which must not be. */
function printVerifyPairs() {
  const rows = verify.sizes.flatMap((bytes) => {
    const { own, control } = verify.compareAt(bytes);
    const row = (/** @type {string} */ name, /** @type {import('./pairs.js').Comparison} */ comparison) => [
      `${bytes} B: ${name}`,
      `${comparison.nanoseconds.toFixed(0)} ns`,
      `${comparison.nanosecondsLess.toFixed(0)} ns`,
      `${(100 * comparison.share).toFixed(1)} %`,
      comparison.isFaster ? 'faster' : 'not faster',
    ];
    return [row('posthorn', own), row('createHmac again', control)];
  });
  const head = ['in pairs with createHmac and a string key', 'time', 'less', 'faster in', ''];
  console.log(`\n${toTable(head, rows)}`);
}
