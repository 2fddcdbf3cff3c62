/** No answer of the service is a tenth as deep. */
export const MAX_DEPTH = 1_000;

/**
 * Parses foreign JSON. Returns undefined for a text that is not JSON, or is nested so deeply that recursive
 * functions such as `JSON.stringify` would throw a RangeError. The error of JSON.parse is dropped, because it
 * quotes the text.
 */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns true if the arrays and objects of a text in JSON are nested more than {@link MAX_DEPTH} deep. */
export function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    switch (text[index]) {
      case '"':
        index = endOfString(text, index);
        break;
      case '[':
      case '{':
        depth += 1;
        if (depth > MAX_DEPTH) return true;
        break;
      case ']':
      case '}':
        depth -= 1;
    }
  }
  return false;
}

/** The index of the quote that ends the string from `start`; without one, the length of the text. */
export function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text[index] !== '"') index += text[index] === '\\' ? 2 : 1;
  return Math.min(index, text.length);
}
