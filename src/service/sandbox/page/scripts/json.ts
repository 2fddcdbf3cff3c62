/** Formats JSON for reading. */
export const jsonScript: string = String.raw`
/** Deeper JSON would be mostly indentation. */
const MAX_DEPTH = 50;

/**
 * JSON with a line for each member; any other text as it is. Only white space changes: to parse a number
 * such as 10.00 and to write it again would change it.
 * @param {string} text
 */
function formatJson(text) {
  return isJson(text) ? (indent(text) ?? text) : text;
}

/** @param {string} text */
function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns undefined for JSON that is too deep.
 * @param {string} text
 */
function indent(text) {
  let depth = 0;
  let result = '';
  // Empty objects and lists, strings, punctuation, and other values.
  for (const [token] of text.matchAll(/\{\s*\}|\[\s*\]|"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},:]|[^\s[\]{},:"]+/g)) {
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
    if (depth > MAX_DEPTH) return undefined;
    const line = '\n' + '  '.repeat(depth);
    if (token === '{' || token === '[' || token === ',') result += token + line;
    else if (token === '}' || token === ']') result += line + token;
    else result += token === ':' ? ': ' : token.replace(/^([{[])\s*([}\]])$/, '$1$2');
  }
  return result;
}
`;
