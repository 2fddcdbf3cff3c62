import { ConfigurationError } from '../../receiver/errors.ts';
import { withTimeLimit } from '../../receiver/timing/time-limit.ts';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import { ServiceError } from './service-error.ts';

/**
 * A token or a password, or a function that returns it. The function is called before each try of a request,
 * with a limit of `timeoutMs`: let it cache its result.
 */
export type Secret = string | (() => string | Promise<string>);

/**
 * Gives a checked secret. Rejects with {@link ServiceError} or {@link ConfigurationError}, which never show a
 * value.
 */
export type SecretSource = (timeoutMs: number) => Promise<string>;

/** The form of a secret. It is checked here, because fetch would show a wrong header value in its error. */
export interface SecretForm {
  readonly pattern: RegExp;
  readonly text: string;
}

export const TOKEN_FORM: SecretForm = {
  pattern: /^[\x21-\x7e]+$/,
  text: 'printable ASCII without spaces, and not empty',
};

export const PASSWORD_FORM: SecretForm = {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 7617, section 2, forbids control characters
  pattern: /^[^\x00-\x1f\x7f]+$/,
  text: 'a string without control characters, and not empty',
};

/** Checks a fixed secret now, and the result of a function at each use. */
export function createSecretSource(name: string, secret: Secret, form: SecretForm): SecretSource {
  if (typeof secret !== 'function') {
    const value = checked(name, secret, form);
    return async () => value;
  }
  return async (timeoutMs) => {
    const secretTimeout = (): Error => new Error(`no answer in ${timeoutMs} ms`);
    const asked = (async () => secret())();
    const value = await withTimeLimit(asked, timeoutMs, secretTimeout).catch((cause: unknown) => {
      throw new ServiceError('credentials_unavailable', `${name} failed: ${messageOf(cause)}`, { cause });
    });
    return checked(`what ${name} gives`, value, form);
  };
}

function checked(name: string, value: unknown, { pattern, text }: SecretForm): string {
  if (typeof value === 'string' && pattern.test(value)) return value;
  throw new ConfigurationError(`${name} must be ${text}`);
}
