import { expect, test } from 'vitest';
import { parseLetter, serializeLetter } from '../../../src/stores/kit/serialized-letter.ts';
import { createLetter } from './conformance.ts';

test.each([
  ['lists', '[],'],
  ['objects', '{},'],
  ['numbers', '1,'],
])('a letter with %s without an end is unreadable, before they are parsed', (_, part) => {
  const planted = `{"headers":[${part.repeat(200_000)}`;
  // JSON.parse would name the place at which the text ends.
  expect(() => parseLetter(planted)).toThrow('it has more than 100000 brackets and commas');
});

test('a letter with a long body and full headers is readable', () => {
  const headers = { 'x-list': [','.repeat(65_536)] };
  const rawBody = Buffer.alloc(4_194_304, '[{,');
  const read = parseLetter(serializeLetter({ ...createLetter({ headers }), rawBody }, 2));
  expect([rawBody.equals(read.rawBody), read.headers]).toEqual([true, headers]);
});
