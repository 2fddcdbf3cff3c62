import { createMemoryStore, createReceiver, type Store } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { deliveryOf } from '../support/delivery-of.ts';
import { Seen } from '../support/seen.ts';
import { KEY } from '../support/served.ts';

const LEASE_MS = 20_000;
const away = (): Promise<never> => Promise.reject(new Error('ECONNREFUSED'));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Delivers an event to a receiver with this store, whose handler fails. */
function deliverTo(store: Store) {
  const receiver = createReceiver({ signingKey: KEY, store, leaseMs: LEASE_MS }).observe(() => {});
  receiver.on('*', () => Promise.reject(new Error('not yet')));
  return receiver.receive(deliveryOf(createEvent('transfer.created')));
}

test('an event that another process has is asked for again every 200 to 400 ms', async () => {
  const claims = new Seen<number>();
  const claim: Store['claim'] = () => {
    claims.add(performance.now());
    return { state: 'busy', msLeft: LEASE_MS };
  };
  const answer = deliverTo({ ...createMemoryStore(), claim });
  await claims.nth(1);
  await vi.advanceTimersByTimeAsync(25_000);
  expect(await answer).toMatchObject({ status: 503 });
  const pauses = claims.all.slice(1).map((at, index) => at - (claims.all[index] ?? Number.NaN));
  expect(pauses.length).toBeGreaterThan(60);
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(199);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(401);
});

describe('a release that failed', () => {
  /** A store that refuses the first releases, and tells when it was asked. */
  async function releasesOf(refusedCount: number) {
    const memory = createMemoryStore();
    const releases = new Seen<number>();
    const release: Store['release'] = (request) => {
      releases.add(performance.now());
      return releases.all.length <= refusedCount ? away() : memory.release(request);
    };
    const answer = deliverTo({ ...memory, release });
    await releases.nth(1);
    await vi.advanceTimersByTimeAsync(10 * LEASE_MS);
    expect(await answer).toMatchObject({ status: 500 });
    const [first = Number.NaN] = releases.all;
    return releases.all.map((at) => at - first);
  }

  test('is tried again after pauses that double, until the lease has ended', async () => {
    const offsets = await releasesOf(Number.POSITIVE_INFINITY);
    expect(offsets).toEqual([0, 100, 300, 700, 1_500, 3_100, 6_300, 12_700, 25_500]);
  });

  test('is not sent again once the store has taken it', async () => {
    expect(await releasesOf(2)).toEqual([0, 100, 300]);
  });
});
