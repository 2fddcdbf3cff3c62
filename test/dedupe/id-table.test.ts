import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { hashOf, IdTable, NONE } from '../../src/dedupe/id-table.ts';

/** Few ids and fewer hashes, so that they meet in the same slots. */
const step = fc.record({ number: fc.nat({ max: 300 }), remove: fc.boolean() });

const ONE_INDEX = 1;
const MANY_INDEXES = 1_000_000;

test.each([
  ['hashes of their own', hashOf, ONE_INDEX],
  ['hashes of their own, in many indexes', hashOf, MANY_INDEXES],
  ['few hashes', (id: string) => id.length, ONE_INDEX],
  ['one hash for all', () => -1, MANY_INDEXES],
])('finds what a Map would find, with %s', (_, hash, most) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 1_500, size: 'max' }), (steps) => {
      const table = new IdTable(most);
      const positions = new Map<string, number>();
      for (const { number, remove } of steps) {
        const id = 'x'.repeat(number % 7) + number;
        const known = positions.get(id) ?? NONE;
        expect(table.find(id, hash(id))).toBe(known);
        if (known === NONE) positions.set(id, table.add(id, hash(id)));
        else if (remove) {
          table.remove(known);
          positions.delete(id);
        }
      }
      expect(new Set(positions.values()).size, 'each has a position of its own').toBe(positions.size);
      for (const [id, position] of positions) {
        expect(table.find(id, hash(id))).toBe(position);
      }
    }),
    { numRuns: 50 },
  );
});

test.each([
  ['one index', ONE_INDEX],
  ['many indexes', MANY_INDEXES],
])('finds thousands that came and went in any order, with %s', (_, most) => {
  const table = new IdTable(most);
  const positions = new Map<string, number>();
  const check = (): void => {
    expect(new Set(positions.values()).size).toBe(positions.size);
    for (const [id, position] of positions) expect(table.find(id)).toBe(position);
  };
  const add = (first: number, count: number): void => {
    for (let number = first; number < first + count; number += 1) {
      positions.set(`evt_${number}`, table.add(`evt_${number}`));
    }
  };
  add(0, 50_000);
  check();
  const shuffled = [...positions.keys()].sort((one, other) => hashOf(one) - hashOf(other));
  for (const id of shuffled.slice(0, 30_000)) {
    table.remove(positions.get(id) ?? NONE);
    positions.delete(id);
    expect(table.find(id)).toBe(NONE);
  }
  check();
  add(50_000, 40_000);
  check();
  expect(Math.max(...positions.values())).toBe(60_000);
});

test('gives positions again, so that they stay as few as there are ids at once', () => {
  const table = new IdTable();
  let highest = 0;
  for (let index = 0; index < 10_000; index += 1) {
    highest = Math.max(highest, table.add(`evt_${index}`));
    if (index >= 100) table.remove(table.find(`evt_${index - 100}`));
  }
  expect(highest).toBeLessThanOrEqual(101);
});

test('the empty id has one hash, even where it is asked for first', async () => {
  vi.resetModules();
  const { hashOf: freshHashOf } = await import('../../src/dedupe/id-table.ts');
  const first = freshHashOf('');
  freshHashOf('evt');
  expect(freshHashOf('')).toBe(first);
});

test('an id of other characters with the same hash is another one', () => {
  const table = new IdTable();
  const position = table.add('', 1);
  expect(table.find('\u0000', 1)).toBe(NONE);
  expect(table.find('', 1)).toBe(position);
});
