import { createMemoryStore } from 'posthorn';
import { expect, test } from 'vitest';

const collidingIdsFile = new URL('../../../bench/load/colliding-ids.js', import.meta.url).href;
const { collidingIds }: { collidingIds: (count: number) => string[] } = await import(
  /* @vite-ignore */ collidingIdsFile
);

/** As many once made each operation take 2 ms, so that this test did not end in its time. */
const COUNT = 24_000;
const ids = collidingIds(COUNT);
const lease = { leaseMs: 1_000, retentionMs: 60_000 };

test('the ids are different ones of one FNV-1a hash', () => {
  expect(new Set(ids).size).toBe(COUNT);
  expect(new Set(ids.map(fnv1a)).size).toBe(1);
});

test.each([
  ['one cache', 100_000],
  ['several caches', 1_000_000],
])('ids of one FNV-1a hash are claimed, completed and told apart, with %s', async (_, maxEntries) => {
  const store = createMemoryStore({ maxEntries, now: () => 0 });
  const statesFor = async (token: string): Promise<string[]> => {
    const states = [];
    for (const id of ids) states.push((await store.claim({ ...lease, id, token })).state);
    return states;
  };
  // All are claimed before the first is completed, so that the claims are many too.
  expect(new Set(await statesFor('a'))).toEqual(new Set(['claimed']));
  expect(new Set(await statesFor('b'))).toEqual(new Set(['busy']));
  for (const [index, id] of ids.entries()) {
    if (index % 2 === 0) await store.complete({ id, token: 'a', retentionMs: 60_000 });
  }
  expect(await statesFor('b')).toEqual(ids.map((_, index) => (index % 2 === 0 ? 'completed' : 'busy')));
});

function fnv1a(text: string): number {
  let hash = 0x811c9dc5 | 0;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash;
}
