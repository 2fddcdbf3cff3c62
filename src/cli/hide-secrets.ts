/**
 * Removes possible secrets from a text. A user may give a key as a command, an argument or the value of
 * another option by mistake: an error would repeat it, and a log would keep it.
 */
export function hideSecrets(text: string): string {
  return text.replace(/(['"]?)([\w+/-]{24,}={0,2})/g, (all, quote: string, run: string) =>
    looksSecret(run) && (quote !== '' || isRandom(run)) ? `${quote}…` : all,
  );
}

/**
 * Returns true for 24 or more characters of hex or base64, the length of the shortest key. Words and parts of
 * a path are shorter. If "-", "_" or "/" joins them, they count as a key only with small letters, capitals
 * and digits.
 */
export function looksSecret(word: string): boolean {
  const run = word.replace(/=+$/, '');
  if (!/^[\w+/-]{24,}$/.test(run)) return false;
  if (/[A-Za-z0-9+]{24}/.test(run) || /^[0-9a-f-]+$/i.test(run)) return true;
  return [/[a-z]/, /[A-Z]/, /\d/].every((kind) => kind.test(run));
}

/** Values are nearly always in quotes. Names of functions may be as long, but are not in quotes. */
function isRandom(run: string): boolean {
  return /\d/.test(run) && new Set(run).size >= 8;
}
