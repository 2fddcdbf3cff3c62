/** A word of a command, quoted for a POSIX shell where it is needed. */
export function quote(text: string): string {
  return /^[\w.:/@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
