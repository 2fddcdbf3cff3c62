import { ConfigurationError } from '../receiver/errors.ts';
import type { Provider, ProviderTesting } from '../receiver/provider/provider.ts';
import { show } from '../receiver/values/foreign-values.ts';

/** Returns the part of a provider that plays the sender. Throws ConfigurationError if it has none. */
export function testingOf({ name, testing }: Provider): ProviderTesting {
  if (testing !== undefined) return testing;
  throw new ConfigurationError(
    `the provider ${show(name)} cannot be played: give it the member testing, with createEvent and sign`,
  );
}
