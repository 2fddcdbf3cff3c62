import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './child-program.ts';

/** The cells of the tables of a page, without the rows that head them. */
export function rowsOf(page: string): readonly (readonly string[])[] {
  const lines = readFileSync(join(packageRoot, page), 'utf8').split('\n');
  return lines
    .filter(
      (line, index) =>
        line.startsWith('|') && !line.startsWith('| -') && !lines[index + 1]?.startsWith('| -'),
    )
    .map((line) => line.replace(/^\| /, '').replace(/ \|$/, '').split(' | '));
}
