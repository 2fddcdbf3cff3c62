import { propertyOf } from '../../receiver/values/foreign-values.ts';
import { limitFromNow, retryInTime } from '../kit/retry-in-time.ts';
import { ServerClock } from '../kit/server-clock.ts';
import type { SqlStatement } from '../sqlite/statement.ts';
import type { D1Binding } from './client.ts';
import { d1FailureRules } from './errors.ts';

/** The rows of each of several statements, as objects. */
export type Rows = readonly (readonly unknown[])[];

/**
 * Sends statements to D1, and again after a failure that passes, under a time limit. D1 decides by its own
 * clock if one is late, because that of a Worker stands still while no answer comes, and those of two Workers
 * may differ.
 */
export class D1Connection {
  readonly #binding: D1Binding;
  readonly #limitMs: number;
  readonly #clock: ServerClock;

  constructor(binding: D1Binding, limitMs: number) {
    this.#binding = binding;
    this.#limitMs = limitMs;
    this.#clock = new ServerClock(limitMs);
  }

  /** Runs statements in one transaction, in one round trip. */
  async send(statements: readonly SqlStatement[]): Promise<Rows> {
    const results = await this.#binding.batch(
      statements.map(({ sql, values }) => this.#binding.prepare(sql).bind(...values)),
    );
    return results.map((result) => result.results);
  }

  /** Takes the time of D1 from a row that has it as `now`. */
  setTime(row: unknown): void {
    this.#clock.set(Number(propertyOf(row, 'now')));
  }

  /** Runs work that may run at any time. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    return retryInTime(limitFromNow(this.#limitMs), d1FailureRules, work);
  }

  /**
   * Runs work that takes the latest time at which it may run, by the clock of D1, and resolves with undefined
   * if it came later.
   */
  runInTime<Result>(work: (lateAfter: number) => Promise<Result | undefined>): Promise<Result> {
    const limit = limitFromNow(this.#limitMs);
    return retryInTime(limit, d1FailureRules, async () => {
      const result = await this.#clock.runInTime(limit.endsAt, work);
      if (result === undefined) throw new Error('the operation reached D1 too late, so it did nothing');
      return result;
    });
  }
}
