import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { packageRoot } from '../support/child-program.ts';

/** Expects that a cell names tests, as `file` *title* *title*, and that all of them are there. */
export function expectTests(cell = ''): void {
  const named = [...cell.matchAll(/`([\w./-]+)`((?: \*[^*]+\*)+)/g)];
  expect(named).not.toEqual([]);
  for (const [, file = '', titles = ''] of named) {
    for (const [title] of titles.matchAll(/(?<= \*)[^*]+(?=\*)/g))
      expect(hasTitle(readFileSync(join(packageRoot, file), 'utf8'), title), `${file}: ${title}`).toBe(true);
  }
}

/** The signs that stand in a title for a value, in the forms of Vitest and of templates. */
const PLACEHOLDER = /%[sijd]|\$\{[^}]*\}|\$\w+/;

/** Returns true if a test of this source has the title, perhaps with values of the source in it. */
function hasTitle(source: string, title: string): boolean {
  const texts = source.matchAll(/(?<=^\s*|\(|: )(['"`])((?:(?!\1).)+)\1(?=[,:])/gm);
  return Array.from(texts, ([, , text = '']) => text.split(PLACEHOLDER))
    .filter((parts) => parts.join('').length > 10)
    .some((parts) => {
      const pattern = parts.map((part) => part.replace(/[^\w\s]/g, '\\$&')).join('(.+)');
      const values = new RegExp(`^${pattern}$`).exec(title)?.slice(1);
      return values?.every((value) => source.includes(value)) ?? false;
    });
}
