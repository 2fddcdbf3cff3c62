import { toKey } from '../../../receiver/dedupe/store.ts';
import type { EventIdentity } from '../../../receiver/provider/event-identity.ts';
import { keyStart } from '../../../receiver/provider/event-key.ts';
import { propertyOf, show } from '../../../receiver/values/foreign-values.ts';
import { InboxError } from './inbox-error.ts';

/** The result of `latest` if events of one key can be created at the same instant. */
export interface RankedKey {
  /** The key, such as the id of the resource. Without a text the attempt fails. */
  readonly key: string | undefined;
  /**
   * A safe integer, compared between events of the key that have the same `created_at`: the event with the
   * higher rank is the newer one.
   */
  readonly rank: number;
}

/** The key that `latest` gave for an event, and the values by which the events of a key are compared. */
export interface LatestEvent {
  readonly key: string;
  readonly createdAt: string;
  readonly rank: number;
}

/**
 * Reads the result of `latest` for an event. Throws InboxError if it has no key, or an unusable rank. An
 * event whose sender does not say when it was created needs a rank, which then decides alone.
 */
export function readLatest(handler: string, given: unknown, event: EventIdentity): LatestEvent {
  const isRanked = typeof given === 'object' && given !== null;
  const key = isRanked ? propertyOf(given, 'key') : given;
  const rank = isRanked ? propertyOf(given, 'rank') : 0;
  const name = `latest of the handler ${JSON.stringify(handler)}`;
  if (typeof key !== 'string' || key === '') {
    // An async function gives a promise, and one that rejects would end the process.
    if (isRanked) Promise.resolve(given).catch(() => {});
    const allowed = isRanked ? 'a text as key of { key, rank }, and no promise' : 'a text';
    throw new InboxError('inbox_latest_invalid', `${name} must give ${allowed}, got ${show(key)}`);
  }
  if (typeof rank !== 'number' || !Number.isSafeInteger(rank)) {
    const message = `${name} must give a safe integer as rank, got ${show(rank)}`;
    throw new InboxError('inbox_latest_invalid', message);
  }
  const { createdAtMs, provider } = event;
  if (createdAtMs === undefined && !isRanked) {
    const reason = `events of ${show(provider)} do not say when they were created`;
    throw new InboxError('inbox_latest_invalid', `${name} must give { key, rank }, because ${reason}`);
  }
  return { key: toKey(keyStart(event) + key), createdAt: toTimestamp(createdAtMs ?? 0), rank };
}

/**
 * Returns the time in a form that also compares as a text. It has microseconds, as in PostgreSQL, because two
 * events of one resource can be created in the same millisecond.
 */
function toTimestamp(createdAtMs: number): string {
  const microseconds = Math.round(createdAtMs * 1_000);
  const seconds = Math.floor(microseconds / 1_000_000);
  const fraction = String(microseconds - seconds * 1_000_000).padStart(6, '0');
  return `${new Date(seconds * 1_000).toISOString().slice(0, -'.000Z'.length)}.${fraction}Z`;
}
