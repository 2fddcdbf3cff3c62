import { checkOptions } from '../../receiver/checks/check-options.ts';
import { ConfigurationError } from '../../receiver/errors.ts';
import { createSecretSource, PASSWORD_FORM, type Secret, TOKEN_FORM } from './secret.ts';

/** The credentials for FX quotes and eChecks (interface, "Authentication"). */
export interface BankingCredentials {
  /** The JWT of `Authorization: Bearer`. */
  readonly token: Secret;
  /** The value of `x-api-key`. */
  readonly apiKey: Secret;
}

/** The credentials for the lists of payment purposes and currencies. */
export interface ProfileCredentials {
  /** The token that the login operation issues. */
  readonly accessToken: Secret;
}

/** The credentials for webhooks. */
export interface AdministratorCredentials {
  /** The name of an administrator user. */
  readonly username: string;
  /** The password of that user. */
  readonly password: Secret;
}

/** The authorization of one request. */
export interface Authorization {
  readonly headers: Readonly<Record<string, string>>;
  /** The texts that must not appear in an error, in every form in which they are sent. */
  readonly secrets: readonly string[];
}

/** Asks for the secrets again, each with a limit of this many milliseconds. */
export type Authorize = (timeoutMs: number) => Promise<Authorization>;

export function readBanking(option: BankingCredentials): Authorize {
  checkArea('banking', option, ['token', 'apiKey']);
  const readToken = createSecretSource('banking.token', option.token, TOKEN_FORM);
  const readApiKey = createSecretSource('banking.apiKey', option.apiKey, TOKEN_FORM);
  return async (timeoutMs) => {
    const [token, apiKey] = await Promise.all([readToken(timeoutMs), readApiKey(timeoutMs)]);
    return {
      headers: { authorization: `Bearer ${token}`, 'x-api-key': apiKey },
      secrets: [token, apiKey],
    };
  };
}

export function readProfile(option: ProfileCredentials): Authorize {
  checkArea('profile', option, ['accessToken']);
  const readToken = createSecretSource('profile.accessToken', option.accessToken, TOKEN_FORM);
  return async (timeoutMs) => {
    const token = await readToken(timeoutMs);
    return { headers: { authorization: `Bearer ${token}` }, secrets: [token] };
  };
}

export function readAdministrator(option: AdministratorCredentials): Authorize {
  checkArea('administrator', option, ['username', 'password']);
  const { username } = option;
  // RFC 7617, section 2: no colon in the user-id.
  if (typeof username !== 'string' || !PASSWORD_FORM.pattern.test(username) || username.includes(':')) {
    throw new ConfigurationError(
      'administrator.username must be a string without ":" and control characters, and not empty',
    );
  }
  const readPassword = createSecretSource('administrator.password', option.password, PASSWORD_FORM);
  return async (timeoutMs) => {
    const password = await readPassword(timeoutMs);
    const encoded = Buffer.from(`${username}:${password}`).toString('base64');
    return { headers: { authorization: `Basic ${encoded}` }, secrets: [password, encoded] };
  };
}

/** Does not show the value: one that is not an object may be a token. */
function checkArea(name: string, option: unknown, members: readonly string[]): void {
  if (typeof option !== 'object' || option === null) {
    throw new ConfigurationError(`${name} must be an object with ${members.join(' and ')}`);
  }
  checkOptions(option, members, name);
}
