import { median, ratios } from '../../run/statistics.js';

/**
 * The median, the least and the greatest.
 *
 * @param {readonly number[]} values
 * @param {number} [digits]
 */
export function spread(values, digits = 0) {
  const [middle, least, greatest] = [median(values), Math.min(...values), Math.max(...values)].map((value) =>
    value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits }),
  );
  return `${middle} (${least}–${greatest})`;
}

/**
 * The ratios of two rows of measurements, round by round.
 *
 * @param {readonly number[]} values
 * @param {readonly number[]} base
 */
export const ratioSpread = (values, base) => spread(ratios(values, base), 2);
