import { expect, test } from 'vitest';
import { outcomes } from '../support/outcomes.ts';
import { rowsOf } from '../support/table-rows.ts';

/** The outcomes that a row names, in the column of that table that lists outcomes. */
function named(page: string, column: number, rows = rowsOf(page)): string[] {
  const words = rows.flatMap((row) =>
    Array.from((row[column] ?? '').matchAll(/`([a-z]+)`/g), ([, word = '']) => word),
  );
  return [...new Set(words)].filter((word) => outcomes.includes(word)).sort();
}

test.each([
  ['docs/README.md', 1, 'outcome'],
  ['docs/answers.md', 1, undefined],
  ['docs/logging.md', 1, undefined],
] as const)('the table of %s has every outcome', (page, column, head) => {
  const rows = rowsOf(page).filter(([first]) => head === undefined || first === head);
  expect(named(page, column, rows)).toEqual([...outcomes].sort());
});
