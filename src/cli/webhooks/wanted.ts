import { Option } from 'commander';
import { serviceTypes } from '../../providers/banking-service/catalog.ts';
import type { Authentication } from '../../receiver/authentication/credentials.ts';
import type { TypedEvent } from '../../receiver/events/event-types.ts';
import { TypeList } from '../../receiver/events/type-list.ts';
import type { Provider } from '../../receiver/provider/provider.ts';
import type { EnabledEvents } from '../../service/shapes/webhooks.ts';
import { usageError } from '../failure.ts';
import {
  type CredentialOptions,
  credentialOptions,
  givesCredentials,
  readAuthentication,
} from '../options.ts';
import type { Requirement } from '../settings.ts';
import { type AnyEventOptions, anyEventOptions, readEvents } from './event-option.ts';

/** The wanted properties of a webhook, apart from its url. */
export interface WantedOptions extends CredentialOptions, AnyEventOptions {
  readonly authentication?: 'none' | 'basic' | 'bearer';
  /** The path of a module with the provider whose types `--event` may name. */
  readonly provider?: string;
}

/** The options for the wanted properties of a webhook. */
export function wantedOptions(): readonly Option[] {
  return [
    ...anyEventOptions(),
    new Option('--provider <module>', 'a module that exports the provider whose types --event may name'),
    new Option('--authentication <type>', 'with credentials from the environment, or none').choices([
      'none',
      'basic',
      'bearer',
    ]),
    ...credentialOptions(),
  ];
}

/** The members of a webhook that the options ask for; members that they do not mention are left out. */
export function readWanted(
  options: WantedOptions,
  provider: Provider | undefined,
): {
  readonly enabled_events?: EnabledEvents<TypedEvent>;
  readonly authentication?: Authentication;
} {
  const enabled_events = readEvents(
    options,
    provider?.types === undefined ? serviceTypes : new TypeList(provider.types),
  );
  const authentication = readWantedAuthentication(options);
  return { ...(enabled_events && { enabled_events }), ...(authentication && { authentication }) };
}

/** The credentials that `--authentication` wants from the environment. */
export function wantedSettings(options: WantedOptions): readonly Requirement[] {
  const { authentication } = options;
  if (givesCredentials(options) || authentication === undefined || authentication === 'none') return [];
  const variables = authentication === 'basic' ? ['BASIC_USERNAME', 'BASIC_PASSWORD'] : ['BEARER_TOKEN'];
  const isMissing = variables.some((name) => (process.env[name] ?? '') === '');
  const complaint = `--authentication ${authentication} needs ${variables.join(' and ')} in the environment`;
  return [{ isMissing, complaint }];
}

/**
 * Reads only credentials that the options ask for: the environment may hold others, which must not change a
 * webhook.
 */
function readWantedAuthentication(options: WantedOptions): Authentication | undefined {
  const { authentication: type, basic, bearer } = options;
  if (type === undefined && basic === undefined && bearer === undefined) return undefined;
  if (type === 'none' && basic === undefined && bearer === undefined) return { type: 'NONE' };
  const { BASIC_USERNAME, BASIC_PASSWORD, BEARER_TOKEN } = process.env;
  const environment = type === 'basic' ? { BASIC_USERNAME, BASIC_PASSWORD } : { BEARER_TOKEN };
  const authentication = readAuthentication({ basic, bearer }, environment);
  if (type === undefined || authentication.type === type.toUpperCase()) return authentication;
  throw usageError(`--authentication ${type} contradicts --${authentication.type.toLowerCase()}`);
}
