import type { TypedEvent } from '../receiver/events/event-types.ts';
import { defineProvider } from '../receiver/provider/define-provider.ts';
import type { Provider } from '../receiver/provider/provider.ts';
import { type ConformanceCase, withIds } from './conformance-case.ts';
import { testingOf } from './played-provider.ts';
import { providerCases } from './provider-conformance/case-ids.ts';
import { events } from './provider-conformance/events.ts';
import { signatures } from './provider-conformance/signatures.ts';
import { type ProviderSamples, Subject } from './provider-conformance/subject.ts';

/**
 * The requirements of providers, for authors of one. `samples` plays the sender: the provider's `testing` by
 * default. The case `slow-store` takes some seconds.
 *
 * @throws ConfigurationError for a wrong provider, and without `samples` for one that lacks `testing`.
 *
 * @example
 * ```ts
 * import { providerConformance } from 'posthorn/testing';
 *
 * for (const { name, run } of providerConformance(acme)) test(name, run);
 * ```
 */
export function providerConformance<E extends TypedEvent>(
  provider: Provider<E>,
  samples: ProviderSamples = testingOf(provider),
): readonly ConformanceCase[] {
  const checked = defineProvider(provider);
  const cases = Object.entries({ ...events, ...signatures }).map(([name, check]) => ({
    name,
    run: () => check(new Subject(checked, samples)),
  }));
  return withIds(cases, providerCases);
}
