import { Option } from 'commander';
import { usageError } from './failure.ts';

/** The address of the service. */
export interface BaseUrlOption {
  readonly baseUrl?: string;
}

/** The credentials of FX quotes and eChecks. */
export interface BankingOptions extends BaseUrlOption {
  readonly bankingToken?: string;
  readonly apiKey?: string;
}

/** The credentials of the reference lists. */
export interface ProfileOptions extends BaseUrlOption {
  readonly accessToken?: string;
}

export function baseUrlOption(): Option {
  return new Option('--base-url <url>', "the service's base address").env('POSTHORN_BASE_URL');
}

export function bankingOptions(): readonly Option[] {
  return [
    baseUrlOption(),
    new Option('--banking-token <token>', 'the bearer token (a JWT)').env('POSTHORN_BANKING_TOKEN'),
    new Option('--api-key <key>', 'the API key').env('POSTHORN_API_KEY'),
  ];
}

export function profileOptions(): readonly Option[] {
  return [
    baseUrlOption(),
    new Option('--access-token <token>', 'the bearer token of the login').env('POSTHORN_ACCESS_TOKEN'),
  ];
}

export function requireBaseUrl({ baseUrl }: BaseUrlOption): string {
  return required(baseUrl, 'base address', 'POSTHORN_BASE_URL', '--base-url');
}

/** The options of `createClient` for FX quotes and eChecks. */
export function requireBanking(options: BankingOptions): {
  readonly baseUrl: string;
  readonly banking: { readonly token: string; readonly apiKey: string };
} {
  const baseUrl = requireBaseUrl(options);
  const token = required(options.bankingToken, 'banking token', 'POSTHORN_BANKING_TOKEN', '--banking-token');
  const apiKey = required(options.apiKey, 'API key', 'POSTHORN_API_KEY', '--api-key');
  return { baseUrl, banking: { token, apiKey } };
}

/** The options of `createClient` for the reference lists. */
export function requireProfile(options: ProfileOptions): {
  readonly baseUrl: string;
  readonly profile: { readonly accessToken: string };
} {
  const baseUrl = requireBaseUrl(options);
  const accessToken = required(
    options.accessToken,
    'access token',
    'POSTHORN_ACCESS_TOKEN',
    '--access-token',
  );
  return { baseUrl, profile: { accessToken } };
}

/** The value of an option or of its variable; an empty text counts as missing. */
export function required(value: string | undefined, what: string, variable: string, option: string): string {
  if (value !== undefined && value !== '') return value;
  throw usageError(`the ${what} is missing: set ${variable} in the environment, or give ${option}`);
}
