import { propertyOf } from '../errors.ts';
import type { PostgresPool } from './client.ts';

/** How many connections `pg` opens unless it is told otherwise. */
const DEFAULT_MAX = 10;

/**
 * The connections of a pool that inboxes may use at once, waiting runs included. The others stay free for the
 * renewals of a store in the same pool, and to cancel queries.
 */
export class ConnectionShare {
  /** Inboxes of the same pool share it. */
  static readonly #shares = new WeakMap<PostgresPool, ConnectionShare>();

  readonly size: number;
  #taken = 0;
  readonly #waiting = new Set<() => void>();

  static of(pool: PostgresPool): ConnectionShare {
    const share = ConnectionShare.#shares.get(pool) ?? new ConnectionShare(pool);
    ConnectionShare.#shares.set(pool, share);
    return share;
  }

  constructor(pool: PostgresPool) {
    const configured = propertyOf(propertyOf(pool, 'options'), 'max');
    const max = typeof configured === 'number' ? configured : DEFAULT_MAX;
    this.size = Math.max(1, max - Math.min(2, Math.ceil(max / 4)));
  }

  /** Takes a place, if there is one. */
  takeAtOnce(): boolean {
    const isFree = this.#taken < this.size;
    if (isFree) this.#taken += 1;
    return isFree;
  }

  /** Waits for a place that another run gives; `within` may give up before. */
  async take(within: (place: Promise<void>) => Promise<void>): Promise<void> {
    let enter = (): void => {};
    const place = new Promise<void>((resolve) => {
      enter = resolve;
      this.#waiting.add(enter);
    });
    try {
      await within(place);
    } catch (error) {
      // A place that came in the same moment goes to the next.
      if (!this.#waiting.delete(enter)) this.give();
      throw error;
    }
  }

  /** Gives a place to the one that has waited longest. */
  give(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#taken -= 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
