import { EventError } from '../receiver/errors.ts';

// `ignoreBOM: true` keeps a byte order mark in the text, where JSON.parse refuses it (RFC 8259, section 8.1).
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes strict UTF-8. Throws TypeError for any other bytes. */
export function decodeUtf8(bytes: Uint8Array): string {
  return utf8.decode(bytes);
}

/**
 * Parses a body of JSON in strict UTF-8. Throws {@link EventError}, with the members of the event that are
 * known without the body.
 */
export function parseJson(rawBody: Uint8Array, known: EventError['event'] = {}): unknown {
  try {
    return JSON.parse(decodeUtf8(rawBody));
  } catch (cause) {
    throw new EventError('body_not_json', 'the body is not JSON in strict UTF-8', known, { cause });
  }
}

/** Returns true for an object of JSON: a list is not one. */
export function isJsonObject(value: unknown): value is { readonly [member: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
