import { createMemoryStore, type Store } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { fakeTime, passUntil } from '../../../support/fake-time.ts';
import { accepted, refused } from '../../../support/open-endpoint.ts';
import { unanswered } from '../../../support/unanswered.ts';
import { claimAndDie, eventOf, KEY_A, openHeld, recordingStore } from './keyed-events.ts';

// A store that fails, or is silent, when it is asked for the key of a handler.

/** A store whose claims of the key "a" are other ones. */
function storeWith(claim: (memory: Store) => Store['claim']) {
  return recordingStore((memory) => ({
    claim: (request) => (request.id === KEY_A ? claim(memory)(request) : memory.claim(request)),
  }));
}

function down(): never {
  throw new Error('down');
}

describe('if the claim of a key fails,', () => {
  test('the event fails, and the claim is released, because it may have been granted', async () => {
    const { store, releases } = storeWith(() => down);
    const { held, reports, send } = openHeld({ store });
    const event = eventOf('a');
    expect(await send(event)).toEqual(refused(503, 'store_unavailable'));
    expect(reports.all).toMatchObject([{ outcome: 'failed', attempt: 1, handlers: [] }]);
    expect(reports.all[0]?.error?.message).toContain('down');
    expect(releases).toContain(KEY_A);
    expect(held.calls.all).toEqual([]);
  });

  test('so do the events that wait behind it', async () => {
    const pass = fakeTime();
    const { store, claims } = storeWith(() => unanswered);
    const { send } = openHeld({ store });
    const answers = [eventOf('a'), eventOf('a')].map((event) => send(event));
    for (const answer of answers)
      expect(await passUntil(pass, answer)).toEqual(refused(503, 'store_unavailable'));
    expect(claims.filter((id) => id === KEY_A)).toHaveLength(1);
  });

  test('the handler runs without it under onStoreFailure: "process", and the report warns', async () => {
    const { store } = storeWith(() => down);
    const { held, reports, send } = openHeld({ store, onStoreFailure: 'process' });
    const event = eventOf('a');
    const answer = send(event);
    (await held.calls.nth(1)).succeed();
    expect(await answer).toEqual(accepted('processed', event.id));
    const warnings = reports.all[0]?.warnings ?? [];
    expect(warnings.filter((warning) => warning.startsWith('claimed_nothing: '))).toHaveLength(1);
  });

  test('the events of this process still have the key one at a time under "process"', async () => {
    const pass = fakeTime();
    const { store } = storeWith(() => down);
    const { held, send } = openHeld({ store, onStoreFailure: 'process' });
    const answers = [eventOf('a'), eventOf('a')].map((event) => send(event));
    await passUntil(pass, held.calls.nth(1));
    await pass(3_000);
    expect(held.calls.all).toHaveLength(1);
    held.calls.all[0]?.succeed();
    (await passUntil(pass, held.calls.nth(2))).succeed();
    for (const answer of answers) expect(await passUntil(pass, answer)).toHaveProperty('status', 200);
  });

  test('each process handles an event of the key at the same time under "process"', async () => {
    const { store } = storeWith(() => down);
    const processes = [1, 2].map(() => openHeld({ store, onStoreFailure: 'process' }));
    const answers = processes.map(({ send }) => send(eventOf('a')));
    const calls = await Promise.all(processes.map(({ held }) => held.calls.nth(1)));
    for (const { succeed } of calls) succeed();
    for (const answer of answers) expect(await answer).toHaveProperty('status', 200);
  });
});

test('a store that is silent until handlers must begin has not said that the key is busy', async () => {
  const pass = fakeTime();
  const { store } = storeWith(() => unanswered);
  const { reports, send } = openHeld({ store, deadlineMs: 2_000, leaseMs: 3_000 });
  expect(await passUntil(pass, send(eventOf('a')))).toEqual(refused(503, 'store_unavailable'));
  expect(reports.all).toMatchObject([{ outcome: 'failed' }]);
  // Claim and release end by their time limits.
  await pass(5_000);
});

test('a claim that is answered late is released', async () => {
  const pass = fakeTime();
  const { store, releases } = storeWith((memory) => async (request) => {
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    return memory.claim(request);
  });
  const { held, send } = openHeld({ store });
  expect(await passUntil(pass, send(eventOf('a')))).toEqual(refused(503, 'store_unavailable'));
  await pass(1_000);
  const begun = send(eventOf('a'));
  await passUntil(pass, begun);
  expect(releases.filter((id) => id === KEY_A).length).toBeGreaterThan(0);
  expect(held.calls.all).toEqual([]);
});

test('a key that is granted after its last event has given up is released', async () => {
  const pass = fakeTime();
  const { store, releases } = storeWith((memory) => async (request) => {
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    return memory.claim(request);
  });
  const { held, send } = openHeld({ store, deadlineMs: 2_000, leaseMs: 3_000 });
  expect(await passUntil(pass, send(eventOf('a')))).toEqual(refused(503, 'store_unavailable'));
  await pass(1_000);
  expect(releases).toContain(KEY_A);
  expect(held.calls.all).toEqual([]);
});

test('a store that fails while a key is busy does not end the wait', async () => {
  const pass = fakeTime();
  let asked = 0;
  const { store } = storeWith((memory) => (request) => {
    asked += 1;
    return asked > 1 && asked < 5 ? down() : memory.claim(request);
  });
  await claimAndDie(store, 3_000);
  asked = 0;
  const { held, send } = openHeld({ store });
  const event = eventOf('a');
  const answer = send(event);
  (await passUntil(pass, held.calls.nth(1))).succeed();
  expect(await passUntil(pass, answer)).toEqual(accepted('processed', event.id));
  expect(asked).toBeGreaterThan(5);
});

test('a key that the store may have granted while it failed is released at the end of the wait', async () => {
  const pass = fakeTime();
  const memory = createMemoryStore();
  await claimAndDie(memory);
  let asked = 0;
  const { store, releases } = recordingStore(() => ({
    ...memory,
    claim: (request) => {
      if (request.id !== KEY_A) return memory.claim(request);
      asked += 1;
      return asked > 1 ? down() : memory.claim(request);
    },
  }));
  const { send } = openHeld({ store });
  expect(await passUntil(pass, send(eventOf('a')))).toEqual(refused(503, 'key_busy'));
  await pass(500);
  expect(releases).toContain(KEY_A);
});

test('a release that fails is tried again', async () => {
  const pass = fakeTime();
  let failures = 2;
  const { store, releases } = recordingStore((memory) => ({
    release: (request) => {
      if (request.id !== KEY_A || failures === 0) return memory.release(request);
      failures -= 1;
      return down();
    },
  }));
  const { held, send } = openHeld({ store });
  const first = send(eventOf('a'));
  (await passUntil(pass, held.calls.nth(1))).succeed();
  expect(await passUntil(pass, first)).toHaveProperty('status', 200);
  const second = send(eventOf('a'));
  (await passUntil(pass, held.calls.nth(2))).succeed();
  expect(await passUntil(pass, second)).toHaveProperty('status', 200);
  expect(releases.filter((id) => id === KEY_A).length).toBeGreaterThanOrEqual(3);
});
