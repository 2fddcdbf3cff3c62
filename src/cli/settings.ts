import { Option } from 'commander';
import { usageError } from './failure.ts';

/**
 * Values that commands take from an option, or else from the environment, by the name of the option: its
 * flags, its description, the variable, and the words for the value in an error.
 */
const settings = {
  baseUrl: ['--base-url <url>', "the service's base address", 'POSTHORN_BASE_URL', 'base address'],
  username: ['--username <name>', 'of an administrator', 'POSTHORN_USERNAME', 'administrator'],
  password: ['--password <password>', "the administrator's", 'POSTHORN_PASSWORD', "administrator's password"],
  bankingToken: [
    '--banking-token <token>',
    'the bearer token (a JWT)',
    'POSTHORN_BANKING_TOKEN',
    'banking token',
  ],
  apiKey: ['--api-key <key>', 'the API key', 'POSTHORN_API_KEY', 'API key'],
  accessToken: [
    '--access-token <token>',
    'the bearer token of the login',
    'POSTHORN_ACCESS_TOKEN',
    'access token',
  ],
  key: ['--key <key>', "the webhook's secret_signing_key", 'SIGNING_KEY', "webhook's secret_signing_key"],
} as const;

export type SettingName = keyof typeof settings;

/** The values of settings, as commander gives them. */
export type SettingOptions<Name extends SettingName> = { readonly [name in Name]?: string };

/** Another thing that a command needs. */
export interface Requirement {
  readonly isMissing: boolean;
  /** Names what is missing, and says how to give it. */
  readonly complaint: string;
}

/** The options of settings. */
export function settingOptions(...names: readonly SettingName[]): readonly Option[] {
  return names.map((name) => {
    const [flags, description, variable] = settings[name];
    return new Option(flags, description).env(variable);
  });
}

/**
 * Throws one error that names all that are missing, so that nobody has to find them one by one. An empty text
 * counts as missing, as everywhere.
 */
export function requireSettings<Name extends SettingName, Options extends SettingOptions<Name>>(
  options: Options,
  names: readonly Name[],
  others: readonly Requirement[] = [],
): asserts options is Options & { readonly [name in Name]: string } {
  const missing = names.flatMap((name) => {
    const [flags, , variable, what] = settings[name];
    const [flag] = flags.split(' ');
    return options[name]
      ? []
      : [`the ${what} is missing: set ${variable} in the environment, or give ${flag}`];
  });
  const complaints = [...missing, ...others.flatMap((one) => (one.isMissing ? [one.complaint] : []))];
  if (complaints.length > 0) throw usageError(complaints.join('; '));
}
