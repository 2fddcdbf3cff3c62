import { show } from '../values/foreign-values.ts';

/** The length of a signature: HMAC-SHA256 in hex. */
const HEX_LENGTH = 64;

/** A signature among other characters. It looks at each character once, however long the text is. */
const WITHIN_TEXT = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/i;

/** Names of the scheme that other services put before the digits. */
const PREFIX = /^(?:(?:hmac-?)?sha-?256|v\d)[=:]/i;

/** 32 bytes in either alphabet of base64, RFC 4648. */
const DIGEST_IN_BASE64 = /^[a-z0-9+/_-]{43}=?$/i;

/** Returns true for 64 hex digits in either case, and nothing else. */
export function isSignature(text: unknown): text is string {
  return isDigest(text, HEX_LENGTH / 2, 'hex');
}

/** Returns true for the text of a digest of so many bytes, and nothing else. */
export function isDigest(text: unknown, bytes: number, encoding: 'hex' | 'base64'): text is string {
  if (typeof text !== 'string' || text.length !== lengthOf(bytes, encoding)) return false;
  return encoding === 'hex' ? !/[^0-9a-f]/i.test(text) : /^[a-z0-9+/]+={0,2}$/i.test(text);
}

/** Describes the form of a digest: `64 hex digits`. */
export function digestForm(bytes: number, encoding: 'hex' | 'base64'): string {
  return `${lengthOf(bytes, encoding)} ${encoding === 'hex' ? 'hex digits' : 'characters of base64'}`;
}

function lengthOf(bytes: number, encoding: 'hex' | 'base64'): number {
  return encoding === 'hex' ? 2 * bytes : 4 * Math.ceil(bytes / 3);
}

/** No signature header is longer. If a stranger sends a longer one, only its length is shown. */
const MAX_LENGTH = 256;

/** Returns true for a text that holds a signature, perhaps with other characters around it. */
export function containsSignature(text: string): boolean {
  return text.length >= HEX_LENGTH && text.length <= MAX_LENGTH && WITHIN_TEXT.test(text);
}

/**
 * Describes a text that is not a signature, by a usual prefix, its length and its characters. The text itself
 * may be a secret that came in the wrong place.
 */
export function formOf(text: string): string {
  if (text.length > MAX_LENGTH) return `${text.length} characters`;
  const [prefix] = PREFIX.exec(text) ?? [];
  if (prefix === undefined) return formWithoutPrefix(text);
  const rest = text.slice(prefix.length);
  return `the prefix ${show(prefix)} before ${isSignature(rest) ? '64 hex digits' : formWithoutPrefix(rest)}`;
}

function formWithoutPrefix(text: string): string {
  if (containsSignature(text)) return 'other characters around 64 hex digits';
  const count = text.length === 1 ? '1 character' : `${text.length} characters`;
  if (DIGEST_IN_BASE64.test(text)) return `${count} of base64`;
  return /^[0-9a-f]+$/i.test(text) ? `${count}, all of them hex digits` : count;
}
