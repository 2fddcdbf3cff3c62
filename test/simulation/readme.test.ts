import { expect, test } from 'vitest';
import { expectTests } from '../docs/named-tests.ts';
import { readDocument } from '../support/documents.ts';
import { rowsAfter } from '../support/table-rows.ts';
import { mistakes } from './mistakes.ts';
import { promiseTexts } from './promise-texts.ts';
import { acceptMistakes, lateClaimMistakes, rerunMistakes, walkMistakes } from './walks/mistakes.ts';

const page = readDocument('test/simulation/README.md').text;

test('the page has the promises', () => {
  const [, told = ''] = /No visited state breaks .*?:\n\n(.*?)\n\n/s.exec(page) ?? [];
  expect(told.split('\n')).toEqual(promiseTexts.map((promise) => `- ${promise}`));
});

test('the page has the number of mistakes', () => {
  expect(page).toContain(`each of ${mistakes.length} mistakes into`);
});

test('the page has the promises of concurrency keys that mistakes break, and the number of these mistakes', () => {
  expect(page).toContain(`each of ${walkMistakes.length} mistakes with concurrency keys`);
  expect(page).toContain(`${acceptMistakes.length} mistakes with accepts`);
  expect(page).toContain(`${rerunMistakes.length} mistakes with reruns`);
  expect(page).toContain(`${lateClaimMistakes.length} mistakes with late claims`);
  const [, told = ''] = /The promises of keys are:\n\n(.*?)\n\n/s.exec(page) ?? [];
  const broken = new Set(walkMistakes.map(({ promise }) => `- ${promise}`));
  expect(told.split('\n').sort()).toEqual([...broken].sort());
});

const rows = rowsAfter(page, '| assumed of a store | held by |');

test('the table of assumptions has rows', () => {
  expect(rows.length).toBeGreaterThan(5);
});

test.each(rows)('the tests of the assumption: %s', (...cells) => {
  expect(cells).toHaveLength(2);
  expectTests(cells[1]);
});
