import { propertyOf } from '../../foreign-values.ts';
import type { PostgresPool } from '../client.ts';
import { Semaphore } from './semaphore.ts';

/** How many connections `pg` opens unless it is told otherwise. */
const DEFAULT_MAX = 10;

/**
 * The connections of a pool that inboxes may use at once, waiting runs included. The others stay free for the
 * renewals of a store in the same pool, and to cancel queries.
 */
export class ConnectionShare extends Semaphore {
  /** Inboxes of the same pool share it. */
  static readonly #shares = new WeakMap<PostgresPool, ConnectionShare>();

  static of(pool: PostgresPool): ConnectionShare {
    const share = ConnectionShare.#shares.get(pool) ?? new ConnectionShare(pool);
    ConnectionShare.#shares.set(pool, share);
    return share;
  }

  constructor(pool: PostgresPool) {
    const configured = propertyOf(propertyOf(pool, 'options'), 'max');
    const max = typeof configured === 'number' ? configured : DEFAULT_MAX;
    super(Math.max(1, max - Math.min(2, Math.ceil(max / 4))));
  }
}
