import { invalidOption } from '../checks/check-options.ts';
import { propertyOf, show } from '../values/foreign-values.ts';
import type { Retries } from './provider.ts';
import { isDelay, isDelays, type RetryRules, rulesOfDelays } from './retry-rules.ts';

/** The shortest pause that is assumed if the delays are not known. */
const LEAST_DELAY_MS = 60_000;
const UNKNOWN_DELAYS = { firstDelayMs: LEAST_DELAY_MS, secondDelayMs: Number.POSITIVE_INFINITY };

/** Returns the rules for the retries of a sender. Throws {@link ConfigurationError} for a wrong value. */
export function readRetries(retries: Retries): RetryRules {
  if (isDelays(retries)) return rulesOfDelays(retries);
  if (retries === 'none')
    return {
      ...UNKNOWN_DELAYS,
      storesLetterFirst: false,
      count: 0,
      spacingMs: 0,
      spanMs: 0,
      finalFromMs: Number.NEGATIVE_INFINITY,
    };
  const [forMs, least] = [propertyOf(retries, 'forMs'), propertyOf(retries, 'least')];
  if (isDelay(forMs) && typeof least === 'number' && Number.isInteger(least) && least > 0)
    return {
      ...UNKNOWN_DELAYS,
      storesLetterFirst: true,
      count: least,
      spacingMs: LEAST_DELAY_MS / 2,
      spanMs: forMs,
      finalFromMs: forMs / 2,
    };
  throw invalidOption(
    'retries of the provider',
    'must be a list of delays in milliseconds, each above 0; or { forMs, least }, with the time from the first ' +
      `attempt to the last one and the least number of retries; or "none"; got ${show(retries)}`,
  );
}
