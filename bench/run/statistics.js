/** @param {readonly number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * The ratios of two rows of measurements, round by round: what disturbed a whole round disturbed both.
 *
 * @param {readonly number[]} values
 * @param {readonly number[]} base
 */
export const ratios = (values, base) => values.map((value, round) => value / (base[round] ?? Number.NaN));
