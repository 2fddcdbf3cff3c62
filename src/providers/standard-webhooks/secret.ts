import type { Key } from '../../receiver/authentication/key.ts';
import { ConfigurationError } from '../../receiver/errors.ts';

/**
 * Decodes a secret as the package `standardwebhooks` does: padding is optional, and a superfluous digit is
 * cut off.
 */
export function decodeSecret(secret: Key): Uint8Array {
  if (typeof secret !== 'string') return secret;
  const text = secret.replace(/^whsec_/, '');
  const digits = text.replace(/={1,2}$/, '');
  const whole = digits.length % 4 === 1 ? digits.slice(0, -1) : digits;
  if (text.length >= 4 && /^[a-z0-9+/]+$/i.test(whole) && !digits.endsWith('='))
    return Buffer.from(whole, 'base64');
  throw new ConfigurationError(
    'a signing key of Standard Webhooks must be base64, with or without "whsec_" before it: ' +
      'give a secret of another form as bytes',
  );
}
