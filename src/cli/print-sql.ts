import type { JsonOption } from './options.ts';
import { createOutput, endWithReader } from './output.ts';
import { TerminalText } from './terminal-text.ts';

/** Prints a script of SQL, which ends with a line feed. */
export function printSql(sql: string, options: JsonOption): void {
  endWithReader();
  createOutput(options).print({ sql }, () => TerminalText.paragraph(sql.replace(/\n$/, '')));
}
