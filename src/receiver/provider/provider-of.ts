import { propertyOf, textOf } from '../values/foreign-values.ts';
import type { CheckedProvider } from './checked-provider.ts';

/** The names of a provider for observers. */
export type ProviderNames = Partial<Pick<CheckedProvider, 'name' | 'storedName'>>;

/** Reads the names of a receiver's provider. The receiver may come from another copy of this package. */
export function providerOf(receiver: unknown): ProviderNames {
  const provider = propertyOf(propertyOf(receiver, 'settings'), 'provider');
  return {
    name: textOf(propertyOf(provider, 'name')),
    storedName: textOf(propertyOf(provider, 'storedName')),
  };
}
