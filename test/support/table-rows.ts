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

/** The cells of one table of a text, by the beginning of its head. */
export function rowsAfter(text: string, head: string): string[][] {
  const [, after = ''] = text.split(head);
  const [table = ''] = after.split('\n\n');
  const [, , ...lines] = table.split('\n');
  return lines.filter((line) => line !== '').map((line) => line.replace(/^\| | \|$/g, '').split(' | '));
}
