import { setImmediate } from 'node:timers/promises';
import { createMemoryStore, createReceiver, type DeadLetters, type Store } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { fakeTimers } from '../../support/fake-time.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { eventAt } from '../../support/open-endpoint.ts';
import { Seen } from '../../support/seen.ts';
import { KEY } from '../../support/served.ts';
import { MINUTE_MS } from '../../support/step-clock.ts';

const LEASE_MS = 20_000;
/** A letter that takes three of them is still within its time limit. */
const SHORT_LEASE_MS = 300;
const away = (): Promise<never> => Promise.reject(new Error('ECONNREFUSED'));

beforeEach(() => {
  fakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});

const fail = (): Promise<never> => Promise.reject(new Error('not yet'));

/** Delivers an event to a receiver with this store, whose handler fails if not told otherwise. */
function deliverTo(store: Store, handle: () => unknown = fail) {
  const receiver = createReceiver({ signingKey: KEY, store, leaseMs: LEASE_MS }).observe(() => {});
  receiver.on('*', handle);
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

test('a renewal that is under way when the run ends is the last one', async () => {
  const renewals = new Seen<() => void>();
  const renew: Store['renew'] = () =>
    new Promise((resolve) => {
      renewals.add(() => resolve({ state: 'held' }));
    });
  const begun = new Seen<true>();
  const handle = (): Promise<never> => {
    begun.add(true);
    return renewals.nth(1).then(fail);
  };
  const answer = deliverTo({ ...createMemoryStore(), renew }, handle);
  await begun.nth(1);
  // The timer of the first renewal is started when the event loop comes round.
  await setImmediate();
  await vi.advanceTimersByTimeAsync(LEASE_MS / 3 + 1);
  expect(await answer).toMatchObject({ status: 500 });
  renewals.all[0]?.();
  await setImmediate();
  await vi.advanceTimersByTimeAsync(10 * LEASE_MS);
  expect(renewals.all).toHaveLength(1);
});

test.each([
  { name: 'before the handlers run', handle: () => {}, letters: 1, outcome: 'processed' },
  { name: 'after they failed, too', handle: fail, letters: 2, outcome: 'parked' },
])('the lease is kept while the letter of a last attempt is written $name', async (row) => {
  const memory = createMemoryStore();
  const map = createMapDeadLetters();
  const event = eventAt(Date.now() - 14 * MINUTE_MS);
  const others: string[] = [];
  const putting = new Seen<true>();
  const put: DeadLetters['put'] = async (letter) => {
    putting.add(true);
    for (let turn = 0; turn < 6; turn += 1) {
      await new Promise((resolve) => setTimeout(resolve, SHORT_LEASE_MS / 2));
      const claim = { id: event.id, token: 'another', leaseMs: 1_000, retentionMs: 1_000 };
      others.push((await memory.claim(claim)).state);
    }
    return map.put(letter);
  };
  const options = { signingKey: KEY, store: memory, leaseMs: SHORT_LEASE_MS, deadLetters: { ...map, put } };
  const receiver = createReceiver(options).observe(() => {});
  receiver.on('*', row.handle);
  const answer = receiver.receive(deliveryOf(event));
  for (let count = 1; count <= row.letters; count += 1) {
    await putting.nth(count);
    await setImmediate();
    await vi.advanceTimersByTimeAsync(3 * SHORT_LEASE_MS);
  }
  expect(JSON.parse((await answer).body)).toEqual({ outcome: row.outcome, id: event.id });
  expect(others).toEqual(Array(6 * row.letters).fill('busy'));
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
