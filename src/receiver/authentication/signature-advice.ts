import { type HeaderValues, isCredentialHeader } from '../request/headers.ts';
import { show } from '../values/foreign-values.ts';
import type { HmacKey } from './hmac-key.ts';
import { findKeyOddities } from './key-oddities.ts';
import type { SignatureAdvice } from './signature-check.ts';
import { containsSignature } from './signature-form.ts';

/** A stranger can send thousands of headers, and a sender sends few. */
const MAX_HEADERS_SEEN = 100;
const MAX_NAMED_HEADERS = 4;

/**
 * The message for a missing header. It names other headers that look like a signature: a receiver that still
 * expects a neutral header name refuses everything in production.
 */
export function missingMessage(
  headers: HeaderValues,
  name: string,
  { canSetHeader }: SignatureAdvice,
): string {
  const wayOut = canSetHeader ? ": if that is the service's, set signatureHeader to it" : '';
  const advice = Object.keys(headers)
    .slice(0, MAX_HEADERS_SEEN)
    .filter((other) => other !== name && looksLikeSignature(other, headers[other]))
    .slice(0, MAX_NAMED_HEADERS)
    .map((other) => `; ${show(other)} was sent${wayOut}`);
  return `the header "${name}" is missing${advice.join('')}`;
}

/** A key or a token may have the form of a signature. */
function looksLikeSignature(name: string, [value = '']: readonly string[] = []): boolean {
  if (name.endsWith('-signature')) return true;
  return containsSignature(value) && !isCredentialHeader(name) && !/key|token|secret/.test(name);
}

/** Names a likely mistake in a key, but never the key itself: observers and the log get the message. */
export function keyAdvice({ text }: HmacKey, index: number, { length }: readonly HmacKey[]): string {
  const oddity = findKeyOddities(text ?? '').at(-1);
  if (oddity === undefined) return '';
  const name = length === 1 ? 'the signing key' : `the signing key at index ${index}`;
  return `; ${name} has ${oddity.description}: remove it, unless it belongs to the key`;
}
