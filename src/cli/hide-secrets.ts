/**
 * Takes out of a text what may be a secret: a key that was meant for an option, and was given as a command,
 * an argument or the value of another option, would otherwise be repeated in the error and kept in a log.
 */
export function hideSecrets(text: string): string {
  return text.replace(/(['"]?)([\w+/-]{24,}={0,2})/g, (all, quote: string, run: string) =>
    looksSecret(run) && (quote !== '' || isRandom(run)) ? `${quote}…` : all,
  );
}

/**
 * Returns true for 24 or more characters of hex or base64, which a key has at least. Words and the parts of a
 * path are shorter; with "-", "_" or "/" between them they are taken for a key only if there are small
 * letters, capitals and digits.
 */
export function looksSecret(word: string): boolean {
  const run = word.replace(/=+$/, '');
  if (!/^[\w+/-]{24,}$/.test(run)) return false;
  if (/[A-Za-z0-9+]{24}/.test(run) || /^[0-9a-f-]+$/i.test(run)) return true;
  return [/[a-z]/, /[A-Z]/, /\d/].every((kind) => kind.test(run));
}

/** Values stand in quotes nearly always; names of functions, which may be as long, stand without. */
function isRandom(run: string): boolean {
  return /\d/.test(run) && new Set(run).size >= 8;
}
