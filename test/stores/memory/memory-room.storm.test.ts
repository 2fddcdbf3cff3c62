import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createMemoryStore } from 'posthorn';
import { expect, test } from 'vitest';
import {
  complete,
  expectLatestRemembered,
  idForms,
  isCompleted,
  RETENTION_MS,
} from '../kit/remembered-ids.ts';

test.each(idForms)('a large store remembers exactly the latest ids, with ids %s', async (_, idOf) => {
  await expectLatestRemembered({ maxEntries: 100_000, count: 150_000, idOf });
});

test('a store too large for one cache remembers the latest ids, and nearly as many as maxEntries', async () => {
  const maxEntries = 200_000;
  const store = createMemoryStore({ maxEntries, now: () => 0 });
  const ids = Array.from({ length: maxEntries + 50_000 }, (_, index) => `evt_${index}`);
  for (const id of ids) await complete(store, id);
  const remembered = await Promise.all(ids.map((id) => isCompleted(store, id)));
  expect(remembered.lastIndexOf(false), 'only the oldest are forgotten').toBeLessThan(55_000);
  const count = remembered.filter(Boolean).length;
  expect(count).toBeLessThanOrEqual(maxEntries);
  expect(count).toBeGreaterThan(0.98 * maxEntries);
});

test('ids that are over make room, far below maxEntries: with a fixed retention memory stays as it is', async () => {
  let time = 0;
  const store = createMemoryStore({ maxEntries: 2_000_000, now: () => time });
  const used: number[] = [];
  for (let second = 0; second < 10; second += 1) {
    for (let index = 0; index < 40_000; index += 1) {
      time += RETENTION_MS / 40_000;
      await complete(store, `evt_${second}_${index}`);
    }
    used.push(usedBytes());
  }
  const [, , third = 0] = used;
  expect(Math.max(...used.slice(3)) - third).toBeLessThan(8_000_000);
  expect(await isCompleted(store, 'evt_9_39999')).toBe(true);
  expect(await isCompleted(store, 'evt_8_0')).toBe(false);
});

test('a store takes room for `maxEntries` ids only once it has some hundreds', async () => {
  const before = usedBytes();
  const stores = Array.from({ length: 50 }, () => createMemoryStore({ maxEntries: 131_072 }));
  for (const store of stores) await complete(store, 'evt');
  expect(usedBytes() - before).toBeLessThan(5_000_000);
  expect(await Promise.all(stores.map((store) => isCompleted(store, 'evt')))).not.toContain(false);
});

function usedBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
