import { ConfigurationError } from '../../../receiver/errors.ts';
import { checkOptions } from '../../../receiver/values/check-options.ts';
import { show } from '../../../receiver/values/foreign-values.ts';
import type { RankedKey } from './latest.ts';

/** The parts of an event that an inbox reads. */
export interface InboxEvent {
  /** Two events with the same id are the same event. */
  readonly id: string;
  /** ISO 8601; compared by `latest`. */
  readonly created_at: string;
}

/** Options of `inbox.once`. */
export interface OnceOptions<Event> {
  /**
   * Gives a key, such as the id of the resource: events that were created before the newest one that this
   * handler has handled for their key are skipped. If it gives undefined or an empty text, because the data
   * lacks it, the attempt fails. `{ key, rank }` compares events of the same `created_at` by their rank; a
   * key alone has the rank 0.
   */
  readonly latest?: (event: Event) => string | RankedKey | undefined;
}

/** Throws {@link ConfigurationError} for a wrong argument of `once`. */
export function checkOnce(name: unknown, handler: unknown, options: unknown): void {
  if (typeof name !== 'string' || !/^[^\0]{1,100}$/su.test(name) || !name.isWellFormed()) {
    throw new ConfigurationError(
      `the name of a handler must be a text of 1 to 100 characters, got ${show(name)}`,
    );
  }
  if (typeof handler !== 'function') throw new ConfigurationError('the handler of once() must be a function');
  checkOptions(options, ['latest'], 'once()');
}

/** Reads the option of `prune`; throws {@link ConfigurationError}. */
export function readAge(options: { readonly olderThanMs: number }): number {
  checkOptions(options, ['olderThanMs'], 'prune()');
  const { olderThanMs } = options;
  if (Number.isFinite(olderThanMs) && olderThanMs >= 0) return olderThanMs;
  throw new ConfigurationError(`olderThanMs must be a number of milliseconds, got ${show(olderThanMs)}`);
}
