import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Semaphore } from '../../../src/receiver/timing/semaphore.ts';

const forever = (granted: Promise<void>): Promise<void> => granted;

/** Lets all promises that can settle do so. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('permits are granted in the order of the requests, and the urgent ones first', async () => {
  const semaphore = new Semaphore(1);
  const order: string[] = [];
  const acquire = async (name: string, isUrgent = false): Promise<void> => {
    await semaphore.acquire(forever, { isUrgent });
    order.push(name);
    semaphore.release();
  };
  expect(semaphore.tryAcquire()).toBe(true);
  const all = [acquire('first'), acquire('second'), acquire('urgent', true)];
  expect(semaphore.tryAcquire()).toBe(false);
  semaphore.release();
  await Promise.all(all);
  expect(order).toEqual(['urgent', 'first', 'second']);
});

test('a large request waits for all its permits, and later ones wait behind it', async () => {
  const semaphore = new Semaphore(3);
  expect(semaphore.tryAcquire(2)).toBe(true);
  const order: string[] = [];
  const large = semaphore.acquire(forever, { count: 3 }).then(() => order.push('large'));
  const small = semaphore.acquire(forever).then(() => order.push('small'));
  await settled();
  expect(order).toEqual([]);
  semaphore.release(2);
  await large;
  expect(order).toEqual(['large']);
  semaphore.release(3);
  await small;
});

test('a large request that gives up lets the ones behind it go', async () => {
  const semaphore = new Semaphore(2);
  expect(semaphore.tryAcquire()).toBe(true);
  let giveUp = (_error: Error): void => {};
  const large = semaphore.acquire(() => new Promise((_resolve, reject) => (giveUp = reject)), { count: 2 });
  const small = semaphore.acquire(forever);
  giveUp(new Error('too late'));
  await expect(large).rejects.toThrow('too late');
  await small;
});

test('permits that are granted while the request gives up are not lost', async () => {
  const semaphore = new Semaphore(1);
  await expect(semaphore.acquire(() => Promise.reject(new Error('too late')))).rejects.toThrow('too late');
  expect(semaphore.tryAcquire()).toBe(true);
});

test('more permits are granted at once', async () => {
  const semaphore = new Semaphore(1);
  expect(semaphore.tryAcquire()).toBe(true);
  const waiting = semaphore.acquire(forever);
  semaphore.size = 2;
  await waiting;
  expect(semaphore.size).toBe(2);
});

test('whatever is acquired, given up and released: never more permits than there are, and none is lost', async () => {
  const requests = fc.array(
    fc.record({ count: fc.integer({ min: 1, max: 3 }), isUrgent: fc.boolean(), givesUp: fc.boolean() }),
    { maxLength: 20 },
  );
  await fc.assert(
    fc.asyncProperty(requests, async (all) => {
      const semaphore = new Semaphore(3);
      let taken = 0;
      await Promise.allSettled(
        all.map(async ({ count, isUrgent, givesUp }) => {
          const within = (granted: Promise<void>): Promise<unknown> =>
            givesUp
              ? Promise.race([granted, settled().then(() => Promise.reject(new Error('late')))])
              : granted;
          await semaphore.acquire(within, { count, isUrgent });
          taken += count;
          expect(taken).toBeLessThanOrEqual(3);
          await settled();
          taken -= count;
          semaphore.release(count);
        }),
      );
      expect(semaphore.tryAcquire(3)).toBe(true);
    }),
    { numRuns: 100 },
  );
});
