import { median, ratios } from './statistics.js';
import { toTable } from './table.js';
import { latencyTarget, targets } from './targets.js';

/** @typedef {import('./rounds.js').Rounds<import('./slot.js').Measurement>} Throughput */
/** @typedef {import('./rounds.js').Rounds<import('../load/fixed-rate.js').FixedRateResult>} Latencies */

/** What all others are compared with. */
const BASE = 'min';

/**
 * A server that is less busy than this under full load did not get its core: other programs were measured
 * too.
 */
const UNDISTURBED = 0.8;

/**
 * @param {readonly import('./contenders.js').Contender[]} contenders
 * @param {Throughput} throughput
 */
export function throughputTable(contenders, throughput) {
  const rows = contenders.map(({ name, title }) => {
    const rates = column(throughput, name, 'requestsPerSecond');
    const costs = column(throughput, name, 'cpuMicroseconds');
    return [
      title,
      name,
      whole(median(rates)),
      `${whole(Math.min(...rates))}–${whole(Math.max(...rates))}`,
      spread(ratios(rates, column(throughput, BASE, 'requestsPerSecond'))),
      median(costs).toFixed(1),
      spread(ratios(column(throughput, BASE, 'cpuMicroseconds'), costs)),
      .../** @type {const} */ (['serverBusy', 'loadBusy']).map(
        (key) => `${Math.round(100 * median(column(throughput, name, key)))} %`,
      ),
    ];
  });
  return toTable(
    [
      'server',
      'name',
      'requests/s',
      'min–max',
      '× MIN',
      'µs CPU',
      '× MIN by CPU',
      'server busy',
      'load busy',
    ],
    rows,
  );
}

/** @param {Latencies} latencies */
export function latencyTable(latencies) {
  const rows = [...latencies.keys()].map((name) => [
    name,
    .../** @type {const} */ (['p50Ms', 'p99Ms', 'p999Ms']).map((key) =>
      median(column(latencies, name, key)).toFixed(2),
    ),
    spread(ratios(column(latencies, name, 'p99Ms'), column(latencies, latencyTarget.against, 'p99Ms'))),
  ]);
  return toTable(['name', 'p50 ms', 'p99 ms', 'p99.9 ms', `p99 × ${latencyTarget.against}`], rows);
}

/**
 * The targets whose contenders were measured, and whether they were met: by requests per second, and, as a
 * second opinion where other programs disturb the machine, by the processor time of the server.
 *
 * @param {Throughput} throughput
 * @param {Latencies | undefined} latencies
 */
export function targetTable(throughput, latencies) {
  const measured = (/** @type {string} */ name) => (throughput.get(name) ?? []).length > 0;
  const rates = targets
    .filter(({ of, against }) => measured(of) && measured(against))
    .map(({ of, against, least }) => {
      const both = (/** @type {'requestsPerSecond' | 'cpuMicroseconds'} */ key) =>
        /** @type {const} */ ([column(throughput, of, key), column(throughput, against, key)]);
      const [ofRates, againstRates] = both('requestsPerSecond');
      const [ofCosts, againstCosts] = both('cpuMicroseconds');
      const found = ratios(ofRates, againstRates);
      const isDisturbed = [of, against].some(
        (name) => median(column(throughput, name, 'serverBusy')) < UNDISTURBED,
      );
      const verdict = `${median(found) >= least ? 'pass' : 'MISS'}${isDisturbed ? ', disturbed' : ''}`;
      const byCost = median(ratios(againstCosts, ofCosts)).toFixed(2);
      return [`${of} against ${against}`, `≥ ${least}`, spread(found), byCost, verdict];
    });
  return toTable(
    ['target', 'to reach', 'ratio', 'by CPU', ''],
    [...rates, ...latencyTargets(latencies ?? new Map())],
  );
}

/** @param {Latencies} latencies */
function latencyTargets(latencies) {
  const { against, of, most } = latencyTarget;
  return of
    .filter((name) => latencies.has(name))
    .map((name) => {
      const found = ratios(column(latencies, name, 'p99Ms'), column(latencies, against, 'p99Ms'));
      const verdict = median(found) <= most ? 'pass' : 'MISS';
      return [`p99 of ${name} against ${against}, at its half load`, `≤ ${most}`, spread(found), '', verdict];
    });
}

/**
 * @template {string} Key
 * @param {Map<string, Record<Key, number>[]>} rounds
 * @param {string} name
 * @param {Key} key
 */
function column(rounds, name, key) {
  return (rounds.get(name) ?? []).map((measurement) => measurement[key]);
}

/** @param {readonly number[]} values */
function spread(values) {
  if (values.length === 0 || values.some(Number.isNaN)) return '';
  return `${median(values).toFixed(2)} (${Math.min(...values).toFixed(2)}–${Math.max(...values).toFixed(2)})`;
}

const whole = (/** @type {number} */ value) => Math.round(value).toLocaleString('en');
