import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { ConfigurationError, SignatureError } from './errors.ts';
import type { HeaderValues } from './headers.ts';

/** A signing key: the service's `secret_signing_key` as text, or bytes. */
export type Key = string | Uint8Array;

/** Imports keys once. Throws {@link ConfigurationError} for none, an empty one or one of another type. */
export function importKeys(keys: Key | readonly Key[], name: string): readonly KeyObject[] {
  const list: readonly unknown[] = Array.isArray(keys) ? keys : [keys];
  if (list.length === 0) throw new ConfigurationError(`${name} must hold at least one key`);
  return list.map((key) => importKey(key, name));
}

function importKey(key: unknown, name: string): KeyObject {
  if (typeof key === 'string' && key !== '') return createSecretKey(key, 'utf8');
  if (key instanceof Uint8Array && key.length > 0) return createSecretKey(key);
  throw new ConfigurationError(
    `${name} must be a non-empty string or Uint8Array, or a list of such; got ${kindOf(key)}`,
  );
}

function kindOf(key: unknown): string {
  if (key === '' || (key instanceof Uint8Array && key.length === 0)) return 'an empty one';
  return key === null ? 'null' : typeof key;
}

/**
 * Signs a body as the service does: HMAC-SHA256, in lower-case hex. Text is signed as UTF-8.
 *
 * @throws ConfigurationError for a missing or empty key.
 */
export function sign(body: string | Uint8Array, key: Key): string {
  return hmac(body, importKey(key, 'key')).toString('hex');
}

/**
 * Whether `signature` (64 hex digits in either case) is that of `body` under any of the keys. A malformed
 * signature is simply false. Compares in constant time.
 *
 * @throws ConfigurationError for a missing or empty key, or an empty list.
 */
export function verifySignature(
  body: string | Uint8Array,
  signature: string,
  keys: Key | readonly Key[],
): boolean {
  const imported = importKeys(keys, 'key');
  if (!isSignature(signature)) return false;
  return findKey(body, Buffer.from(signature, 'hex'), imported) !== -1;
}

/** The index of the key that made the signature, or -1. */
function findKey(body: string | Uint8Array, signature: Uint8Array, keys: readonly KeyObject[]): number {
  return keys.findIndex((key) => timingSafeEqual(hmac(body, key), signature));
}

function hmac(body: string | Uint8Array, key: KeyObject): Buffer {
  return createHmac('sha256', key).update(body).digest();
}

function isSignature(text: unknown): text is string {
  return typeof text === 'string' && /^[0-9a-f]{64}$/i.test(text);
}

/**
 * Takes the signature out of its header, before a byte of the body is read. Throws {@link SignatureError}; where
 * another header looks like the signature, the message names it, because a receiver that was left at the
 * interface's neutral header name refuses everything in production.
 */
export function readSignature(headers: HeaderValues, name: string): Uint8Array {
  const values = headers.get(name) ?? [];
  const [signature] = values;
  if (signature === undefined) throw new SignatureError('signature_missing', missing(headers, name));
  if (values.length > 1) {
    throw new SignatureError('signature_repeated', `the header "${name}" was sent ${values.length} times`);
  }
  if (!isSignature(signature)) {
    throw new SignatureError('signature_malformed', `the header "${name}" does not hold 64 hex digits`);
  }
  return Buffer.from(signature, 'hex');
}

function missing(headers: HeaderValues, name: string): string {
  const others = [...headers.keys()].filter((other) => other.endsWith('-signature'));
  const advice = others.map(
    (other) => `; "${other}" was sent: if that is the service's, set signatureHeader to it`,
  );
  return `the header "${name}" is missing${advice.join('')}`;
}

/** The index of the key that signed the body; throws {@link SignatureError} when none did. */
export function checkSignature(
  rawBody: Uint8Array,
  signature: Uint8Array,
  keys: readonly KeyObject[],
): number {
  const keyIndex = findKey(rawBody, signature, keys);
  if (keyIndex !== -1) return keyIndex;
  throw new SignatureError(
    'signature_mismatch',
    `the signature matches none of the ${keys.length} signing keys: another key, or the body was changed on its way`,
  );
}
