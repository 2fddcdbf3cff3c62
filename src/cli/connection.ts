import { Option } from 'commander';
import { requireSettings, setting } from './settings.ts';

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

export function baseUrlSetting({ baseUrl }: BaseUrlOption): ReturnType<typeof setting> {
  return setting(baseUrl, 'base address', 'POSTHORN_BASE_URL', '--base-url');
}

/** The options of `createClient` for FX quotes and eChecks. */
export function requireBanking(options: BankingOptions): {
  readonly baseUrl: string;
  readonly banking: { readonly token: string; readonly apiKey: string };
} {
  const baseUrl = baseUrlSetting(options);
  const token = setting(options.bankingToken, 'banking token', 'POSTHORN_BANKING_TOKEN', '--banking-token');
  const apiKey = setting(options.apiKey, 'API key', 'POSTHORN_API_KEY', '--api-key');
  requireSettings([baseUrl, token, apiKey]);
  return { baseUrl: baseUrl.value, banking: { token: token.value, apiKey: apiKey.value } };
}

/** The options of `createClient` for the reference lists. */
export function requireProfile(options: ProfileOptions): {
  readonly baseUrl: string;
  readonly profile: { readonly accessToken: string };
} {
  const baseUrl = baseUrlSetting(options);
  const accessToken = setting(options.accessToken, 'access token', 'POSTHORN_ACCESS_TOKEN', '--access-token');
  requireSettings([baseUrl, accessToken]);
  return { baseUrl: baseUrl.value, profile: { accessToken: accessToken.value } };
}
