import { checkOptions, readDuration } from '../check-options.ts';
import { ConfigurationError } from '../errors.ts';
import {
  type AdministratorCredentials,
  type Authorize,
  type BankingCredentials,
  type ProfileCredentials,
  readAdministrator,
  readBanking,
  readProfile,
} from './credentials.ts';

/** Options of `createClient`. Only the credentials of the parts that are used are needed. */
export interface ClientOptions {
  /** The service's base address, with or without a path, for example `https://api.example.com`. */
  readonly baseUrl: string;
  /** For `fxQuotes` and `eChecks`. */
  readonly banking?: BankingCredentials | undefined;
  /** For `paymentPurposes` and `currencies`. */
  readonly profile?: ProfileCredentials | undefined;
  /** For `webhooks`. */
  readonly administrator?: AdministratorCredentials | undefined;
  /**
   * For each try of a request, from the connection to the end of the answer; 10,000 milliseconds by default.
   */
  readonly timeoutMs?: number | undefined;
}

/** Options of every method of the client, as its last argument. */
export interface CallOptions {
  /**
   * Ends the call, which rejects with the signal's reason. What has been
   * sent may have been carried out all the same.
   */
  readonly signal?: AbortSignal | undefined;
}

/** The options, checked and with their defaults. */
export interface ClientSettings {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly areas: Readonly<Record<Area, Authorize | undefined>>;
}

/** A part of the service with credentials of its own. */
export type Area = 'banking' | 'profile' | 'administrator';

/** Checks the options once; throws {@link ConfigurationError} that names the one at fault. */
export function readOptions(options: ClientOptions): ClientSettings {
  checkOptions(options, ['baseUrl', 'banking', 'profile', 'administrator', 'timeoutMs'], 'createClient');
  const { banking, profile, administrator } = options;
  return {
    baseUrl: readBaseUrl(options.baseUrl),
    timeoutMs: readDuration('timeoutMs', options.timeoutMs, 10_000),
    areas: {
      banking: banking === undefined ? undefined : readBanking(banking),
      profile: profile === undefined ? undefined : readProfile(profile),
      administrator: administrator === undefined ? undefined : readAdministrator(administrator),
    },
  };
}

/** The value is not shown: it may hold credentials. */
function readBaseUrl(value: unknown): string {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  const isBase =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    `${url.username}${url.password}${url.search}${url.hash}` === '';
  if (isBase) return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
  throw new ConfigurationError(
    'baseUrl must be an absolute http: or https: address without credentials, query and fragment, ' +
      'for example "https://api.example.com"',
  );
}
