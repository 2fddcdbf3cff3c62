import { toKey } from '../dedupe/store.ts';
import { show } from '../errors.ts';
import { parseTime } from '../events/time.ts';

/** The key of a guard, and the time that it compares. */
export interface Guard {
  readonly key: string;
  readonly createdAt: string;
}

/** Reads what `latest` gave for an event; throws if that is no key. */
export function guardOf(handler: string, key: unknown, createdAt: string): Guard {
  if (typeof key !== 'string' || key === '') {
    throw new Error(`latest of the handler ${JSON.stringify(handler)} must give a text, got ${show(key)}`);
  }
  return { key: toKey(key), createdAt: toTimestamp(createdAt) };
}

/**
 * The time in the form of PostgreSQL, which compares microseconds: two events of one resource can be created
 * in the same millisecond. Finer digits are cut off.
 */
function toTimestamp(createdAt: string): string {
  const ms = parseTime(createdAt);
  if (ms === undefined) throw new Error(`created_at must be a time in ISO 8601, got ${show(createdAt)}`);
  const [, fraction = '0'] = /[.,](\d+)/.exec(createdAt) ?? [];
  // An offset has whole minutes: the fraction is that of UTC as well.
  return `${new Date(ms).toISOString().slice(0, -'.000Z'.length)}.${fraction.slice(0, 6)}Z`;
}
