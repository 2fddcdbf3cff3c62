import { Option } from 'commander';
import { usageError } from './failure.ts';

/** Values that commands take from an option, or else from the environment, by the name of the option. */
const settings = {
  baseUrl: {
    flags: '--base-url <url>',
    description: "the service's base address",
    variable: 'POSTHORN_BASE_URL',
    what: 'base address',
  },
  username: {
    flags: '--username <name>',
    description: 'of an administrator',
    variable: 'POSTHORN_USERNAME',
    what: 'administrator',
  },
  password: {
    flags: '--password <password>',
    description: "the administrator's",
    variable: 'POSTHORN_PASSWORD',
    what: "administrator's password",
  },
  bankingToken: {
    flags: '--banking-token <token>',
    description: 'the bearer token (a JWT)',
    variable: 'POSTHORN_BANKING_TOKEN',
    what: 'banking token',
  },
  apiKey: {
    flags: '--api-key <key>',
    description: 'the API key',
    variable: 'POSTHORN_API_KEY',
    what: 'API key',
  },
  accessToken: {
    flags: '--access-token <token>',
    description: 'the bearer token of the login',
    variable: 'POSTHORN_ACCESS_TOKEN',
    what: 'access token',
  },
  key: {
    flags: '--key <key>',
    description: "the webhook's secret_signing_key",
    variable: 'SIGNING_KEY',
    what: "webhook's secret_signing_key",
  },
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
    const { flags, description, variable } = settings[name];
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
    const { what, variable, flags } = settings[name];
    const [flag] = flags.split(' ');
    return options[name]
      ? []
      : [`the ${what} is missing: set ${variable} in the environment, or give ${flag}`];
  });
  const complaints = [...missing, ...others.flatMap((one) => (one.isMissing ? [one.complaint] : []))];
  if (complaints.length > 0) throw usageError(complaints.join('; '));
}
