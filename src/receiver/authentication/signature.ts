import { types } from 'node:util';
import { ConfigurationError, SignatureError } from '../errors.ts';
import { type HeaderValues, isCredentialHeader } from '../request/headers.ts';
import { type RawBody, toBytes } from '../request/raw-body.ts';
import { show, typeNameOf } from '../values/foreign-values.ts';
import { findKey, HmacKey } from './hmac-key.ts';
import { findKeyOddities } from './key-oddities.ts';
import type { OtherReceivers } from './other-receivers.ts';
import { containsSignature, formOf, isSignature } from './signature-form.ts';

/** A signing key: the service's `secret_signing_key` as text, or bytes. */
export type Key = string | Uint8Array;

/**
 * Imports keys. Throws {@link ConfigurationError} for an empty list, an empty key, or a key of another type.
 */
export function importKeys(keys: Key | readonly Key[], name: string): readonly HmacKey[] {
  // `map` skips the holes of a list, and a copy has none.
  const list: readonly unknown[] = Array.isArray(keys) ? [...keys] : [keys];
  if (list.length === 0) throw new ConfigurationError(`${name} must hold at least one key`);
  return list.map((key) => importKey(key, name));
}

function importKey(key: unknown, name: string): HmacKey {
  if (typeof key === 'string' && key !== '') return importText(key);
  if (types.isUint8Array(key) && key.length > 0) return new HmacKey(key);
  throw new ConfigurationError(
    `${name} must be a non-empty string or Uint8Array, or a list of these; got ${kindOf(key)}`,
  );
}

/**
 * The key of the last call: callers of `sign` and `verifySignature` pass the same key with each call, and
 * importing it takes longer than the HMAC of a small body (`bench/micro/verify.js`).
 */
let lastImported: { readonly text: string; readonly key: HmacKey } | undefined;

function importText(text: string): HmacKey {
  if (lastImported?.text !== text) lastImported = { text, key: new HmacKey(Buffer.from(text)) };
  return lastImported.key;
}

function kindOf(key: unknown): string {
  if (key === '' || (types.isUint8Array(key) && key.length === 0)) return 'an empty one';
  return typeNameOf(key);
}

/**
 * Signs a body as the service does: HMAC-SHA256, in lower-case hex. Text is signed as UTF-8.
 *
 * @throws ConfigurationError for a missing or empty key, and for a body that is neither text nor bytes.
 */
export function sign(body: RawBody, key: Key): string {
  return importKey(key, 'key').sign(toBytes(body, 'body'));
}

/**
 * Returns true if `signature` (64 hex digits in either case) is the signature of `body` by any of the keys,
 * and false if it is wrong or malformed. Compares in constant time.
 *
 * @throws ConfigurationError for a missing or empty key, an empty list, and a body that is neither text nor
 * bytes.
 */
export function verifySignature(body: RawBody, signature: string, keys: Key | readonly Key[]): boolean {
  const imported = importKeys(keys, 'key');
  const bytes = toBytes(body, 'body');
  if (!isSignature(signature)) return false;
  return findKey(bytes, signature.toLowerCase(), imported) !== -1;
}

/**
 * Reads the signature from its header, in lower-case hex. Throws {@link SignatureError}. If another header
 * looks like the signature, the message names it: a receiver that still expects the interface's neutral
 * header name refuses everything in production.
 */
export function readSignature(headers: HeaderValues, name: string): string {
  const values = headers[name] ?? [];
  const [signature] = values;
  if (signature === undefined) throw new SignatureError('signature_missing', missingMessage(headers, name));
  if (values.length > 1) {
    throw new SignatureError('signature_repeated', `the header "${name}" was sent ${values.length} times`);
  }
  if (!isSignature(signature)) {
    throw new SignatureError(
      'signature_malformed',
      `the header "${name}" must hold 64 hex digits only, and holds ${formOf(signature)}`,
    );
  }
  return signature.toLowerCase();
}

/** Returns true if the value of the header has the form of a signature, right or wrong. */
export function isSignatureHeader(headers: HeaderValues, name: string): boolean {
  return isSignature(headers[name]?.[0]);
}

/** A stranger can send thousands of headers, and the service sends few. */
const MAX_HEADERS_SEEN = 100;
const MAX_NAMED_HEADERS = 4;

function missingMessage(headers: HeaderValues, name: string): string {
  const advice = Object.keys(headers)
    .slice(0, MAX_HEADERS_SEEN)
    .filter((other) => looksLikeSignature(other, headers[other]))
    .slice(0, MAX_NAMED_HEADERS)
    .map((other) => `; ${show(other)} was sent: if that is the service's, set signatureHeader to it`);
  return `the header "${name}" is missing${advice.join('')}`;
}

/** A key or a token may have the form of a signature. */
function looksLikeSignature(name: string, [value = '']: readonly string[] = []): boolean {
  if (name.endsWith('-signature')) return true;
  return containsSignature(value) && !isCredentialHeader(name) && !/key|token|secret/.test(name);
}

/**
 * Finds the key that signed the body, and returns its index. Throws {@link SignatureError} if none did;
 * `others` adds its advice to the message.
 */
export function checkSignature(
  rawBody: Uint8Array,
  signature: string,
  keys: readonly HmacKey[],
  others?: OtherReceivers,
): number {
  const keyIndex = findKey(rawBody, signature, keys);
  if (keyIndex !== -1) return keyIndex;
  const problem =
    keys.length === 1 ? 'does not match the signing key' : `matches none of the ${keys.length} signing keys`;
  const advice = `${keys.map(keyAdvice).join('')}${others?.advice(rawBody, signature) ?? ''}`;
  throw new SignatureError(
    'signature_mismatch',
    `the signature ${problem}: the sender used another key, or the body was changed on its way${advice}`,
  );
}

/** Names a likely mistake in a key, but never the key itself: observers and the log get the message. */
function keyAdvice({ text }: HmacKey, index: number, { length }: readonly HmacKey[]): string {
  const oddity = findKeyOddities(text ?? '').at(-1);
  if (oddity === undefined) return '';
  const name = length === 1 ? 'the signing key' : `the signing key at index ${index}`;
  return `; ${name} has ${oddity.description}: remove it, unless it belongs to the key`;
}
