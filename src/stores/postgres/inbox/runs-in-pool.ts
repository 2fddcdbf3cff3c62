import { Semaphore } from '../../../receiver/timing/semaphore.ts';
import { propertyOf } from '../../../receiver/values/foreign-values.ts';
import type { PostgresPool } from '../client.ts';
import { LatestKeys } from './latest-keys.ts';

/** The most connections that `pg` opens unless it is told otherwise. */
const DEFAULT_MAX = 10;

/** The state that the runs of all inboxes of one pool share. */
export class RunsInPool {
  static readonly #ofPools = new WeakMap<PostgresPool, RunsInPool>();

  /**
   * Permits for the connections that inboxes may use at once, also to wait for a row. The others stay free
   * for the renewals of a store in the same pool, and to cancel queries.
   */
  readonly connections: Semaphore;
  readonly latestKeys: LatestKeys = new LatestKeys();

  static of(pool: PostgresPool): RunsInPool {
    const runs = RunsInPool.#ofPools.get(pool) ?? new RunsInPool(pool);
    RunsInPool.#ofPools.set(pool, runs);
    return runs;
  }

  private constructor(pool: PostgresPool) {
    const configured = propertyOf(propertyOf(pool, 'options'), 'max');
    const max = typeof configured === 'number' ? configured : DEFAULT_MAX;
    this.connections = new Semaphore(Math.max(1, max - Math.min(2, Math.ceil(max / 4))));
  }
}
