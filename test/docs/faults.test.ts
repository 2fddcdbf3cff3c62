import { expect, test } from 'vitest';
import { readDocument } from '../support/documents.ts';
import { rowsAfter } from '../support/table-rows.ts';
import { expectTests } from './named-tests.ts';

const page = readDocument('test/faults.md').text;
const faults = rowsAfter(page, '| fault | what the sender sees |');

test('the table of faults has rows', () => {
  expect(faults.length).toBeGreaterThan(30);
});

test.each(faults)('the tests of the fault: %s', (...cells) => {
  expect(cells).toHaveLength(5);
  expectTests(cells[4]);
});
