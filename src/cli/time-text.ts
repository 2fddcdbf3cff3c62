/**
 * A time as ISO 8601, or its number if no Date can hold it: another program may have stored it, and one time
 * must not hide the others.
 */
export function timeText(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.valueOf()) ? String(ms) : date.toISOString();
}

/** A time to the minute, for a table. */
export function minuteText(ms: number): string {
  return timeText(ms).replace(/:\d\d\.\d+Z$/, 'Z');
}
