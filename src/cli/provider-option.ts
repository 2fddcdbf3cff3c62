import { existsSync } from 'node:fs';
import { Option } from 'commander';
import { nearestOf } from '../receiver/events/nearest.ts';
import {
  checkedFormOf,
  isCheckedProvider,
  withSignatureHeader,
} from '../receiver/provider/checked-provider.ts';
import type { Provider } from '../receiver/provider/provider.ts';
import { shorten } from '../receiver/values/foreign-values.ts';
import { usageError } from './failure.ts';
import { exportsOf } from './module-exports.ts';
import { createNamedProvider, providerNames } from './named-providers.ts';
import { signatureHeaderOption } from './options.ts';

/** The sender whose requests a command sends or checks. */
export interface ProviderOptions {
  readonly provider: string;
  readonly signatureHeader?: string;
}

export function providerOptions(): readonly Option[] {
  const names = providerNames.join(', ');
  return [
    new Option('--provider <name>', `the sender: ${names}, or a module that exports a provider`).default(
      'banking-service',
    ),
    signatureHeaderOption(),
  ];
}

/** Returns the provider of the options. Throws a usage error for an unknown one. */
export async function readProvider(options: ProviderOptions, json: boolean): Promise<Provider> {
  const provider =
    (await createNamedProvider(options.provider)) ?? (await loadProvider(options.provider, json));
  const { signatureHeader } = options;
  if (signatureHeader === undefined) return provider;
  if (canSetHeader(provider)) return withSignatureHeader(provider, signatureHeader);
  throw usageError(`${provider.name} names the header of its signature: leave out --signature-header`);
}

/** Returns true for a sender with the interface of the banking service: its signature header can be set. */
export function canSetHeader(provider: Provider): boolean {
  return checkedFormOf(provider).withSignatureHeader !== undefined;
}

async function loadProvider(path: string, json: boolean): Promise<Provider> {
  if (!/[./\\]/.test(path) && !existsSync(path)) throw unknownName(path);
  const provider = (await exportsOf(path, 'provider', json)).find(isProvider);
  if (provider !== undefined) return provider;
  throw usageError(
    `${JSON.stringify(path)} must export a provider of posthorn/providers or of defineProvider, as \`provider\` or ` +
      'as its default',
  );
}

function isProvider(thing: unknown): thing is Provider {
  return isCheckedProvider(thing);
}

function unknownName(given: string): Error {
  const shown = shorten(given, 100);
  return usageError(
    `--provider ${shown} is neither a provider nor a file; the nearest is ${nearestOf(shown, providerNames).text}. The ` +
      `providers are ${providerNames.join(', ')}; your own is given by the path of its module`,
  );
}
