import { escapeControls } from '../receiver/outcomes/escape.ts';

/**
 * Quotes a word of a command for a POSIX shell if necessary. Characters that could drive the terminal, on
 * which the command is printed, are escaped: shell-quote and shlex print them as they are, and shescape drops
 * some of them.
 */
export function quote(text: string): string {
  if (/^[\w.:/@-]+$/.test(text)) return text;
  if (escapeControls(text) === text) return `'${text.replaceAll("'", `'\\''`)}'`;
  // Neither form fits each word: a substitution drops line feeds at the end, and not every shell has $'…'.
  return text.endsWith('\n') ? `$'${inOctal(text, '\\')}'` : `"$(printf %b '${inOctal(text, '\\0')}')"`;
}

function inOctal(text: string, prefix: string): string {
  return text.replace(/[\\'\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from(Buffer.from(character), (byte) => prefix + byte.toString(8).padStart(3, '0')).join(''),
  );
}
