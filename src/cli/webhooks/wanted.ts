import { InvalidArgumentError, Option } from 'commander';
import type { Authentication } from '../../receiver/authentication/credentials.ts';
import { eventTypes, type Pattern } from '../../receiver/events/catalog.ts';
import { nearestPattern } from '../../receiver/events/nearest-pattern.ts';
import { isPattern } from '../../receiver/events/pattern.ts';
import { usageError } from '../failure.ts';
import {
  type CredentialOptions,
  credentialOptions,
  givesCredentials,
  readAuthentication,
} from '../options.ts';
import type { Requirement } from '../settings.ts';

/** The wanted properties of a webhook, apart from its url. */
export interface WantedOptions extends CredentialOptions {
  readonly event?: readonly Pattern[];
  readonly authentication?: 'none' | 'basic' | 'bearer';
}

/** The options for the wanted properties of a webhook. */
export function wantedOptions(): readonly Option[] {
  return [
    eventOption(),
    new Option('--authentication <type>', 'with credentials from the environment, or none').choices([
      'none',
      'basic',
      'bearer',
    ]),
    ...credentialOptions(),
  ];
}

/** The option that narrows a webhook down to some types. */
export function eventOption(): Option {
  return new Option('--event <pattern>', 'a type, transfer.* or *; may be given several times').argParser(
    collectPattern,
  );
}

function collectPattern(pattern: string, earlier: readonly Pattern[] = []): readonly Pattern[] {
  if (isPattern(pattern)) return [...earlier, pattern];
  const nearest = nearestPattern(pattern);
  const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  throw new InvalidArgumentError(`It matches no type of the service: ${[...eventTypes].join(', ')}.${meant}`);
}

/** The members of a webhook that the options ask for; members that they do not mention are left out. */
export function readWanted(options: WantedOptions): {
  readonly enabled_events?: readonly Pattern[];
  readonly authentication?: Authentication;
} {
  const { event: enabled_events } = options;
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
