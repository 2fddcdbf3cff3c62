import { type RawBody, toBytes } from '../request/raw-body.ts';
import { findKey, HmacKey, importText } from './hmac-key.ts';
import { type Key, readKey, readKeys } from './key.ts';
import { isSignature } from './signature-form.ts';

/**
 * Signs a body by HMAC-SHA256, in lower-case hex. Text is signed as UTF-8.
 *
 * @throws ConfigurationError for a missing or empty key, and for a body that is neither text nor bytes.
 */
export function sign(body: RawBody, key: Key): string {
  return importKey(readKey(key, 'key')).sign(toBytes(body, 'body'));
}

/**
 * Returns true if `signature` (64 hex digits in either case) is the signature of `body` by any of the keys,
 * and false if it is wrong or malformed. Compares in constant time.
 *
 * @throws ConfigurationError for a missing or empty key, an empty list, and a body that is neither text nor
 * bytes.
 */
export function verifySignature(body: RawBody, signature: string, keys: Key | readonly Key[]): boolean {
  const imported = readKeys(keys, 'key').map(importKey);
  const bytes = toBytes(body, 'body');
  if (!isSignature(signature)) return false;
  return findKey(bytes, [signature.toLowerCase()], imported) !== -1;
}

function importKey(key: Key): HmacKey {
  return typeof key === 'string' ? importText(key) : new HmacKey(key);
}
