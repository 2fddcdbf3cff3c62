import { randomUUID } from 'node:crypto';

const DIGITS = 16;

/** Returns a number as a text of fixed length, which sorts as the number does. */
export function sortable(number: number): string {
  const within = Math.min(Math.max(Math.trunc(number), 0), Number.MAX_SAFE_INTEGER);
  return String(within).padStart(DIGITS, '0');
}

/**
 * Returns the name of a new version of a dead letter. It is greater than `found`, the version that is there.
 */
export type NextVersion = (found?: string) => string;

/**
 * Creates a function that names versions: `<rank>-<uuid>`. The rank grows with each one, and is the time in
 * microseconds, so that the versions of several processes are about in order, too.
 */
export function createVersions(): NextVersion {
  let last = 0;
  return (found = '') => {
    last = Math.max(last + 1, Date.now() * 1_000);
    const rank = Math.max(last, rankAfter(found));
    return `${sortable(rank)}-${randomUUID()}`;
  };
}

/** The rank of a version, as text. */
export function rankOf(version: string): string {
  return version.slice(0, DIGITS);
}

function rankAfter(version: string): number {
  const rank = Number(rankOf(version));
  // A person who repairs a table by hand can write any version.
  return Number.isFinite(rank) ? rank + 1 : 0;
}
