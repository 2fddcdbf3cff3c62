import { median } from '../run/statistics.js';

/**
 * @typedef {object} Comparison
 * @property {number} nanoseconds that `of` takes, the median
 * @property {number} nanosecondsLess than `against` takes in the same pair, the median
 * @property {number} share of the pairs in which `of` was the faster one, without those of equal time
 * @property {boolean} isFaster beyond chance: three standard deviations of a coin
 */

/**
 * Times two functions in pairs, which of them first being left to chance: what disturbs the machine for a
 * while disturbs both. It tells differences that are far smaller than what one run differs from the next.
 *
 * @param {() => unknown} of
 * @param {() => unknown} against
 * @param {{ pairs: number, calls: number }} course how often, and how many calls are timed together
 * @returns {Comparison}
 */
export function compareInPairs(of, against, { pairs, calls }) {
  const own = [];
  const less = [];
  for (let pair = -pairs / 2; pair < pairs; pair += 1) {
    const isFirst = Math.random() < 0.5;
    const early = timeOf(isFirst ? of : against, calls);
    const late = timeOf(isFirst ? against : of, calls);
    if (pair < 0) continue; // warm-up
    own.push(isFirst ? early : late);
    less.push(isFirst ? late - early : early - late);
  }
  const decided = less.filter((nanoseconds) => nanoseconds !== 0);
  const share = decided.filter((nanoseconds) => nanoseconds > 0).length / decided.length;
  return {
    nanoseconds: median(own),
    nanosecondsLess: median(less),
    share,
    isFaster: share > 0.5 + (3 * 0.5) / Math.sqrt(decided.length),
  };
}

/**
 * @param {() => unknown} call
 * @param {number} calls
 */
function timeOf(call, calls) {
  const startedAt = process.hrtime.bigint();
  for (let index = 0; index < calls; index += 1) call();
  return Number(process.hrtime.bigint() - startedAt) / calls;
}
