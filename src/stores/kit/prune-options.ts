import { checkOptions } from '../../receiver/checks/check-options.ts';
import { ConfigurationError } from '../../receiver/errors.ts';
import { show } from '../../receiver/values/foreign-values.ts';

/** Reads the option of `prune`; throws {@link ConfigurationError}. */
export function readAge(options: { readonly olderThanMs: number }): number {
  checkOptions(options, ['olderThanMs'], 'prune()');
  const { olderThanMs } = options;
  if (Number.isFinite(olderThanMs) && olderThanMs >= 0) return olderThanMs;
  throw new ConfigurationError(`olderThanMs must be a number of milliseconds, got ${show(olderThanMs)}`);
}
