/** Quotes a word of a command for a POSIX shell if necessary. */
export function quote(text: string): string {
  return /^[\w.:/@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
