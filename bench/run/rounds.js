import { Slot } from './slot.js';
import { median } from './statistics.js';
import { latencyTarget } from './targets.js';

/** @typedef {import('./contenders.js').Contender} Contender */
/** @typedef {import('./slot.js').Measurement} Measurement */
/** @typedef {import('../load/fixed-rate.js').FixedRateResult} FixedRateResult */

/**
 * Measurements by the name of the contender, one of each round.
 *
 * @template T
 * @typedef {Map<string, T[]>} Rounds
 */

/**
 * @typedef {object} Course
 * @property {number} rounds
 * @property {import('./slot.js').Settings} slot
 * @property {() => Promise<void>} reset brings every slot to the same start
 * @property {(text: string) => void} tell
 */

/**
 * All contenders take their turn, and again, and again: what disturbs the machine for a while disturbs them
 * all.
 *
 * @template T
 * @param {readonly Contender[]} contenders
 * @param {Course} course
 * @param {(slot: Slot) => Promise<T>} measure
 * @param {(measurement: T) => string} describe
 */
async function alternate(contenders, { rounds, slot: settings, reset, tell }, measure, describe) {
  /** @type {Rounds<T>} */
  const measurements = new Map(contenders.map(({ name }) => [name, []]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const contender of contenders) {
      await reset();
      const slot = new Slot(contender, settings);
      try {
        await slot.prepare();
        const measurement = await measure(slot);
        await slot.verifyCount();
        measurements.get(contender.name)?.push(measurement);
        tell(`round ${round} of ${rounds}: ${contender.name}: ${describe(measurement)}`);
      } finally {
        await slot.stop();
      }
    }
  }
  return measurements;
}

/**
 * How many requests per second each can answer.
 *
 * @param {readonly Contender[]} contenders
 * @param {Course} course
 * @returns {Promise<Rounds<Measurement>>}
 */
export function measureThroughput(contenders, course) {
  return alternate(
    contenders,
    course,
    (slot) => slot.measureClosedLoop(),
    ({ requestsPerSecond, cpuMicroseconds, serverBusy, loadBusy }) =>
      `${Math.round(requestsPerSecond)} requests/s, ${cpuMicroseconds.toFixed(1)} µs each; ` +
      `busy: server ${percent(serverBusy)}, load ${percent(loadBusy)}`,
  );
}

/**
 * How long an answer takes at half of what the hand-written contender can do.
 *
 * @param {readonly Contender[]} contenders
 * @param {Course} course
 * @param {Rounds<Measurement>} throughput
 * @returns {Promise<{ rate: number, latencies: Rounds<FixedRateResult> } | undefined>}
 */
export async function measureHalfLoad(contenders, course, throughput) {
  const { against, of } = latencyTarget;
  const chosen = contenders.filter(({ name }) => name === against || of.includes(name));
  const full = throughput.get(against) ?? [];
  if (full.length === 0 || chosen.length < 2) return undefined;
  const rate = Math.round(median(full.map(({ requestsPerSecond }) => requestsPerSecond)) / 2);
  const latencies = await alternate(
    chosen,
    course,
    (slot) => slot.measureFixedRate(rate),
    ({ p50Ms, p99Ms, lateP99Ms }) =>
      `at ${rate} requests/s: p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms; ` +
      `the load itself was late by ${lateP99Ms.toFixed(2)} ms (p99)`,
  );
  return { rate, latencies };
}

const percent = (/** @type {number} */ share) => `${Math.round(share * 100)} %`;
