/** A number with its thousands parted, for a progress that grows. */
export function countText(count: number): string {
  return count.toLocaleString('en-US');
}

/** Counts as text, for example `3 parked, 1 still running`. Counts of zero are left out, except the first. */
export function countsOf(...counts: readonly (readonly [number, string])[]): string {
  return counts
    .filter(([count], index) => index === 0 || count > 0)
    .map(([count, what]) => `${count} ${what}`)
    .join(', ');
}

/** A number of things, as in `1 event` or `2 events`. */
export function plural(count: number, thing: string, things: string = `${thing}s`): string {
  return `${count} ${count === 1 ? thing : things}`;
}
