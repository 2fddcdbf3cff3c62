import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'vitest';
import { packageRoot } from '../support/child-program.ts';

/** Expects what a test has written where the pattern matches in a file; with UPDATE_DOCS, puts it there. */
export function expectWritten(path: string, pattern: RegExp, written: string): void {
  const file = join(packageRoot, path);
  const text = readFileSync(file, 'utf8');
  expect(text, `${path} has no place for it`).toMatch(pattern);
  const updated = text.replace(pattern, () => written);
  if (process.env.UPDATE_DOCS === undefined)
    expect(text, `to write ${path} anew: ${command()}`).toBe(updated);
  else writeFileSync(file, updated);
}

/** The command that writes what the running test has found. */
function command(): string {
  const test = relative(packageRoot, expect.getState().testPath ?? '').replaceAll('\\', '/');
  return `UPDATE_DOCS=1 npx vitest run --project quick ${test}`;
}

/** The place in a page between a comment with the name and the next `<!-- end -->`. */
export function partNamed(name: string): RegExp {
  return new RegExp(`(?<=<!-- ${name} -->\n).*?(?=<!-- end -->)`, 's');
}

/** A table in Markdown, with an empty line before and after it. */
export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `|${cells.map((cell) => (cell === '' ? ' ' : ` ${cell} `)).join('|')}|`;
  return ['', line(head), line(head.map(() => '---')), ...rows.map(line), '', ''].join('\n');
}
