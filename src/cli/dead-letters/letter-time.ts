/**
 * A time of a letter as ISO 8601, or its number if no Date can hold it: another program may have written the
 * letter, and one letter must not hide the others.
 */
export function letterTime(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.valueOf()) ? String(ms) : date.toISOString();
}
