import { endOfString, parseJson } from '../shapes/parse-json.ts';

const MEMBER = '"secret_signing_key"';

/** A hostile answer may have the member many thousand times, and each text that is not JSON throws. */
const MOST_TEXTS = 1_000;

/**
 * Finds the signing key in a body, even if the body is cut off or wraps the webhook in another object: the
 * key is shown only once. It does not use a regular expression, because on a long string that throws a
 * RangeError, and the key would be lost.
 */
export function signingKeyIn(text: string): string | undefined {
  let texts = 0;
  for (let at = text.indexOf(MEMBER); at >= 0; at = text.indexOf(MEMBER, at + MEMBER.length)) {
    const colon = skipWhitespace(text, at + MEMBER.length);
    const start = skipWhitespace(text, colon + 1);
    if (text[colon] !== ':' || text[start] !== '"') continue;
    texts += 1;
    if (texts > MOST_TEXTS) return undefined;
    const key = parseJson(text.slice(start, endOfString(text, start) + 1));
    if (typeof key === 'string' && key !== '') return key;
  }
  return undefined;
}

function skipWhitespace(text: string, from: number): number {
  let index = from;
  while (index < text.length && ' \t\r\n'.includes(text.charAt(index))) index += 1;
  return index;
}
