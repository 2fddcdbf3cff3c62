import { show } from '../foreign-values.ts';

/** The length of a signature: HMAC-SHA256 in hex. */
export const HEX_LENGTH = 64;

/** A signature among other characters. It looks at each character once, however long the text is. */
const WITHIN_TEXT = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/i;

/** Names of the scheme that other services put before the digits. */
const PREFIX = /^(?:(?:hmac-?)?sha-?256|v\d)[=:]/i;

/** 32 bytes in either alphabet of base64, RFC 4648. */
const DIGEST_IN_BASE64 = /^[a-z0-9+/_-]{43}=?$/i;

/** Returns true for 64 hex digits in either case, and nothing else. */
export function isSignature(text: unknown): text is string {
  return typeof text === 'string' && text.length === HEX_LENGTH && !/[^0-9a-f]/i.test(text);
}

/** Returns true for a text that holds a signature, perhaps with other characters around it. */
export function containsSignature(text: string): boolean {
  return text.length >= HEX_LENGTH && WITHIN_TEXT.test(text);
}

/**
 * Describes a text that is not a signature, by its length, its characters or a usual prefix. The text itself
 * may be a secret that came in the wrong place.
 */
export function formOf(text: string): string {
  const [prefix] = PREFIX.exec(text) ?? [];
  if (prefix !== undefined && isSignature(text.slice(prefix.length)))
    return `the prefix ${show(prefix)} before 64 hex digits`;
  if (containsSignature(text)) return 'other characters around 64 hex digits';
  const count = text.length === 1 ? '1 character' : `${text.length} characters`;
  if (DIGEST_IN_BASE64.test(text)) return `${count} of base64`;
  return /^[0-9a-f]+$/i.test(text) ? `${count}, all of them hex digits` : count;
}
