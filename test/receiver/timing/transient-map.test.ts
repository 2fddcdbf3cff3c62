import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TransientMap } from '../../../src/receiver/timing/transient-map.ts';

test('a map for entries that come and go has the same entries as a Map', () => {
  const change = fc.record({ key: fc.nat(9), isRemoved: fc.boolean() });
  const changes = fc.array(change, { minLength: 1_000, maxLength: 2_000, size: 'max' });
  fc.assert(
    fc.property(changes, (all) => {
      const [map, expected] = [new TransientMap<number, number>(), new Map<number, number>()];
      for (const [index, { key, isRemoved }] of all.entries()) {
        if (isRemoved) for (const one of [map, expected]) one.delete(key);
        else for (const one of [map, expected]) one.set(key, index);
        expect(map.size).toBe(expected.size);
        expect(map.get(key)).toBe(expected.get(key));
      }
      expect([...map.values()].sort()).toEqual([...expected.values()].sort());
    }),
    // A failure of so long a list would be made smaller for minutes.
    { numRuns: 20, endOnFailure: true },
  );
});
