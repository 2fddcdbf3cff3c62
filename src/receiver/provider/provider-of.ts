import { propertyOf, textOf } from '../values/foreign-values.ts';
import type { CheckedProvider } from './checked-provider.ts';

/** The names of a provider for observers. */
export type ProviderNames = Partial<Pick<CheckedProvider, 'name' | 'storedName'>>;

/** Reads the provider of a receiver, which may be of another copy of this package, or an object like one. */
export function providerOf(receiver: unknown): ProviderNames {
  const provider = propertyOf(propertyOf(receiver, 'settings'), 'provider');
  return {
    name: textOf(propertyOf(provider, 'name')),
    storedName: textOf(propertyOf(provider, 'storedName')),
  };
}
