import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { type ClaimResult, createMemoryStore, type Store } from 'posthorn';
import { createEvent, storeConformance } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { toKey } from '../../../src/receiver/dedupe/store.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { accepted, openDirectly } from '../../support/open-endpoint.ts';
import { keyCases } from '../kit/key-cases.ts';
import { expectLateClaimsRefused } from '../kit/late-claims.ts';
import { expectLikeModel } from '../kit/memory-like-model.ts';
import { complete, expectLatestRemembered, idForms, isCompleted } from '../kit/remembered-ids.ts';

const RETENTION_MS = 1_000_000;
const LEASE_MS = 1_000;

/** Operations with a clock of their own. */
function clocked(maxEntries?: number) {
  let time = 1_000;
  const store = createMemoryStore({ now: () => time, ...(maxEntries !== undefined && { maxEntries }) });
  return {
    store,
    advance: (ms: number) => {
      time += ms;
    },
    claim: async (id: string, token: string, attemptSpacingMs = 0): Promise<ClaimResult> =>
      store.claim({ id, token, leaseMs: LEASE_MS, retentionMs: RETENTION_MS, attemptSpacingMs }),
    release: (id: string, token: string) =>
      store.release({ id, token, retentionMs: RETENTION_MS, handled: [] }),
    complete: (id: string) => store.complete({ id, token: 't', retentionMs: RETENTION_MS }),
  };
}

describe('keeps what every store promises:', () => {
  for (const { name, run } of storeConformance(() => createMemoryStore())) test(name, run);

  test.each(keyCases)('$name', async ({ check }) => {
    const store = createMemoryStore();
    await check(() => store);
  });
});

test('behaves as the reference model under any interleaving of its operations and of time', () =>
  expectLikeModel(300));

test('refuses a claim after its release, in whatever order they and another claim take effect', async () => {
  const store = createMemoryStore();
  await expectLateClaimsRefused(store, store);
});

test('every operation gives its result at once, without a promise', () => {
  const store = createMemoryStore();
  const request = { id: 'evt', token: 'a', leaseMs: LEASE_MS, retentionMs: RETENTION_MS };
  expect(store.claim(request)).toMatchObject({ state: 'claimed' });
  expect(store.renew(request)).toEqual({ state: 'held' });
  expect(store.release({ ...request, handled: [] })).toEqual({ state: 'released' });
  expect(store.complete(request)).toEqual({ state: 'completed' });
});

test.each([1, 1_000_000])(
  'an id is forgotten when its retention is over, by the clock (maxEntries: %d)',
  async (maxEntries) => {
    const { store, claim, complete, release, advance } = clocked(maxEntries);
    const retentionMs = 10;
    await store.complete({ id: 'completed', token: 'a', retentionMs });
    advance(9);
    expect(await claim('completed', 'b')).toEqual({ state: 'completed' });
    advance(1);
    expect(await claim('completed', 'b')).toMatchObject({ state: 'claimed', attempt: 1 });
    await claim('released', 'a');
    await release('released', 'a');
    advance(RETENTION_MS - 1);
    expect(await claim('released', 'b')).toMatchObject({ attempt: 2 });
    await release('released', 'b');
    advance(RETENTION_MS);
    expect(await claim('released', 'c')).toMatchObject({ attempt: 1 });
    await complete('released');
    expect(await claim('released', 'd')).toEqual({ state: 'completed' });
  },
);

test('an id that is completed, expired and claimed many times over is never mixed up with its neighbours', async () => {
  const { store, claim, advance } = clocked(2);
  for (let round = 0; round < 50; round += 1) {
    for (const id of ['1', '2', '3']) {
      expect(await claim(id, 'a'), `${id} in round ${round}`).toMatchObject({ state: 'claimed', attempt: 1 });
      await store.complete({ id, token: 'a', retentionMs: 5 });
    }
    expect(await claim('3', 'b')).toEqual({ state: 'completed' });
    advance(5);
  }
});

describe('maxEntries', () => {
  test('evicts no claim that is running, however many there are', async () => {
    const { store, claim, advance } = clocked(1);
    const ids = Array.from({ length: 1_000 }, (_, index) => `evt_${index}`);
    for (const id of ids) expect(await claim(id, 'a')).toMatchObject({ state: 'claimed', attempt: 1 });
    advance(LEASE_MS - 1);
    for (const id of ids) expect(await claim(id, 'b')).toEqual({ state: 'busy', msLeft: 1 });
    const renewal = { token: 'a', leaseMs: LEASE_MS, retentionMs: RETENTION_MS };
    for (const id of ids) expect(await store.renew({ ...renewal, id })).toEqual({ state: 'held' });
    advance(LEASE_MS - 1);
    for (const id of ids) expect(await claim(id, 'b')).toMatchObject({ state: 'busy' });
    expect(await store.complete({ ...renewal, id: 'evt_0' })).toEqual({ state: 'completed' });
    expect(await claim('evt_1', 'b'), 'beside a completed one').toMatchObject({ state: 'busy' });
  });

  test('evicts completed ids, the least recently used first', async () => {
    const { claim, complete } = clocked(3);
    for (const id of ['1', '2', '3']) await complete(id);
    expect(await claim('1', 'a')).toEqual({ state: 'completed' });
    await complete('4');
    for (const id of ['1', '3', '4']) expect(await claim(id, 'a')).toEqual({ state: 'completed' });
    expect(await claim('2', 'a')).toMatchObject({ state: 'claimed', attempt: 1 });
  });

  test('is not used up by the running ones', async () => {
    const { claim, complete } = clocked(1);
    await complete('done');
    for (let index = 0; index < 100; index += 1) await claim(`evt_${index}`, 'a');
    expect(await claim('done', 'a')).toEqual({ state: 'completed' });
  });

  test('does not count released keys of handlers: they push out no id', async () => {
    const store = createMemoryStore({ maxEntries: 20 });
    const keyed = { name: 'book', concurrencyKey: ({ id }: { id: string }) => id };
    const { send } = openDirectly({ store }, (receiver) => receiver.on('*', () => {}, keyed));
    const events = Array.from({ length: 20 }, () => createEvent('transfer.created'));
    for (const event of events) expect(await send(event)).toEqual(accepted('processed', event.id));
    for (const event of events) expect(await send(event)).toEqual(accepted('duplicate', event.id));
  });

  test('counts released ids, which can be claimed again in any case', async () => {
    const { claim, release } = clocked(1);
    for (const id of ['1', '2']) {
      await claim(id, 'a');
      await release(id, 'a');
    }
    expect(await claim('2', 'b')).toMatchObject({ state: 'claimed', attempt: 2 });
    expect(await claim('1', 'b')).toMatchObject({ state: 'claimed', attempt: 1 });
  });
});

describe('spacedAttempts', () => {
  /** Claims and releases at these times; resolves with the last count. */
  async function countAt(spacingMs: number, times: readonly number[]): Promise<unknown> {
    const { claim, release, advance } = clocked();
    let now = 0;
    let count: unknown;
    for (const [index, time] of times.entries()) {
      advance(time - now);
      now = time;
      const result = await claim('evt', `t${index}`, spacingMs);
      if (result.state !== 'claimed') throw new Error(`busy at ${time}`);
      expect(result.attempt).toBe(index + 1);
      count = result.spacedAttempts;
      await release('evt', `t${index}`);
    }
    return count;
  }

  const cases: readonly { spacingMs: number; times: readonly number[]; count: number }[] = [
    { spacingMs: 30_000, times: [0], count: 1 },
    { spacingMs: 30_000, times: [0, 0, 1, 29_999], count: 1 },
    { spacingMs: 30_000, times: [0, 30_000], count: 2 },
    { spacingMs: 30_000, times: [0, 60_000, 360_000, 1_260_000], count: 4 },
    { spacingMs: 30_000, times: [0, 60_000, 60_001, 61_000, 360_000], count: 3 },
    // Measured from the last that counted: a steady stream of duplicates must not hide the retries among it.
    { spacingMs: 30_000, times: [0, 20_000, 40_000, 60_000, 80_000], count: 3 },
    { spacingMs: 0, times: [0, 0, 0], count: 3 },
    // The clock was set back by ten minutes: the last attempt must not pass for an earlier one.
    { spacingMs: 30_000, times: [0, 60_000, -240_000, -240_000, 660_000], count: 4 },
  ];
  test.each(cases)('with a spacing of $spacingMs, claims at $times count $count', async (given) => {
    expect(await countAt(given.spacingMs, given.times)).toBe(given.count);
  });

  test('a claim repeated with its token counts once', async () => {
    const { claim, advance } = clocked();
    await claim('evt', 'a');
    advance(10);
    expect(await claim('evt', 'a')).toMatchObject({ state: 'claimed', attempt: 1, spacedAttempts: 1 });
  });
});

describe('an id of any length', () => {
  test('costs a key of at most 64 characters, and different ids get different keys', () => {
    const id = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 80 }),
      fc.nat({ max: 300 }).map((length) => 'x'.repeat(length)),
      fc.string().map((text) => toKey(text.repeat(100))),
    );
    fc.assert(
      fc.property(id, id, (one, other) => {
        expect(toKey(one).length).toBeLessThanOrEqual(64);
        expect(toKey(one) === toKey(other)).toBe(one === other);
      }),
    );
    const megabyte = 'x'.repeat(1_000_000);
    expect(toKey(megabyte).length).toBeLessThanOrEqual(64);
    expect(toKey(megabyte)).not.toBe(toKey(`${megabyte}y`));
    expect(toKey(toKey(megabyte)), 'an id that looks like a digest').not.toBe(toKey(megabyte));
  });

  test('of a megabyte is not kept in memory, be it claimed, released or completed', async () => {
    const store = createMemoryStore();
    const before = heapUsed();
    for (let index = 0; index < 24; index += 1) await leave(store, index);
    expect(heapUsed() - before).toBeLessThan(12_000_000);
    const [running, completed] = [bigId(0), bigId(2)];
    expect(await store.claim({ ...lease, id: running, token: 'other' })).toMatchObject({ state: 'busy' });
    expect(await store.claim({ ...lease, id: completed, token: 'other' })).toEqual({ state: 'completed' });
  });

  const lease = { token: 't', leaseMs: RETENTION_MS, retentionMs: RETENTION_MS };
  // Parsed, as the ids of deliveries are: a string that JavaScript has only concatenated would share its
  // parts.
  const bigId = (index: number): string => JSON.parse(`"${'x'.repeat(1_000_000)}${index}"`);

  async function leave(store: Store, index: number): Promise<void> {
    const id = bigId(index);
    await store.claim({ ...lease, id });
    if (index % 3 === 1) await store.release({ ...lease, id, handled: [] });
    if (index % 3 === 2) await store.complete({ ...lease, id });
  }

  function heapUsed(): number {
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
    return process.memoryUsage().heapUsed;
  }
});

test.each(idForms)('a store remembers exactly the latest ids, with ids %s', async (_, idOf) => {
  await expectLatestRemembered({ maxEntries: 3_000, count: 4_500, idOf });
});

test('a store that grows keeps the order in which its ids were used', async () => {
  const maxEntries = 300;
  const store = createMemoryStore({ maxEntries, now: () => 0 });
  const ids = Array.from({ length: 400 }, (_, index) => `evt_${index}`);
  for (const id of ids.slice(0, 256)) await complete(store, id);
  // A use of it, so that it is not the first to be forgotten.
  expect(await isCompleted(store, 'evt_0')).toBe(true);
  for (const id of ids.slice(256)) await complete(store, id);
  const forgotten = new Set(ids.slice(1, 101));
  for (const id of ids.toReversed()) expect(await isCompleted(store, id), id).toBe(!forgotten.has(id));
});

test('two stores know nothing of each other', async () => {
  const [one, other] = [clocked(), clocked()];
  await one.complete('evt');
  expect(await other.claim('evt', 'a')).toMatchObject({ state: 'claimed', attempt: 1 });
});
