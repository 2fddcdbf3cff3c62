import { propertyOf } from '../../foreign-values.ts';
import { Semaphore } from '../../timing/semaphore.ts';
import type { PostgresPool } from '../client.ts';

/** How many connections `pg` opens unless it is told otherwise. */
const DEFAULT_MAX = 10;

/** Inboxes of the same pool share its permits. */
const permits = new WeakMap<PostgresPool, Semaphore>();

/**
 * Permits for the connections of a pool that inboxes may use at once, waiting runs included. The others stay
 * free for the renewals of a store in the same pool, and to cancel queries.
 */
export function connectionPermitsOf(pool: PostgresPool): Semaphore {
  const known = permits.get(pool) ?? new Semaphore(shareOf(pool));
  permits.set(pool, known);
  return known;
}

function shareOf(pool: PostgresPool): number {
  const configured = propertyOf(propertyOf(pool, 'options'), 'max');
  const max = typeof configured === 'number' ? configured : DEFAULT_MAX;
  return Math.max(1, max - Math.min(2, Math.ceil(max / 4)));
}
