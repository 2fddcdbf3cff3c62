import { createMemoryStore, type Store } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { fakeTime, passUntil } from '../../../support/fake-time.ts';
import { letterOf } from '../../../support/letter-of.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import { forwardedClock } from '../../../support/monotonic-clock.ts';
import { accepted, refused } from '../../../support/open-endpoint.ts';
import { MINUTE_MS } from '../../../support/step-clock.ts';
import { until } from '../../../support/until.ts';
import { eventOf, KEY_A, openHeld, recordingStore } from './keyed-events.ts';

const LEASE_MS = 10_000;
const another = { token: 'another process', leaseMs: 60_000, retentionMs: 60_000 };

/** The monotonic clock goes on past a lease while the store answers the claim of the key "a", once. */
function openBlocked(meanwhile: (memory: Store) => unknown) {
  const forward = forwardedClock();
  const renewed: string[] = [];
  let isBlocked = false;
  const { store, claims } = recordingStore((memory) => ({
    claim: async (request) => {
      const answer = await memory.claim(request);
      if (request.id !== KEY_A || isBlocked) return answer;
      isBlocked = true;
      forward(1.5 * LEASE_MS);
      await meanwhile(memory);
      return answer;
    },
    renew: (request) => {
      renewed.push(request.id);
      return memory.renew(request);
    },
  }));
  return { claims, renewed, store, ...openHeld({ store, leaseMs: LEASE_MS, deadlineMs: 29_000 }) };
}

describe('a handler does not begin on a lease that may have ended while it waited:', () => {
  test('old leases of event and key are confirmed first', async () => {
    const { held, renewed, send } = openBlocked(() => {});
    const event = eventOf('a');
    const answer = send(event);
    (await held.calls.nth(1)).succeed();
    expect(renewed).toEqual([event.id, KEY_A]);
    expect(await answer).toEqual(accepted('processed', event.id));
  });

  test('that of a key whose claim took long is confirmed, although that of the event was renewed', async () => {
    const pass = fakeTime();
    const renewed: string[] = [];
    const { store } = recordingStore((memory) => ({
      claim: async (request) => {
        if (request.id === KEY_A) await new Promise((resolve) => setTimeout(resolve, 1_800));
        return memory.claim(request);
      },
      renew: (request) => {
        renewed.push(request.id);
        return memory.renew(request);
      },
    }));
    const { held, send } = openHeld({ store, leaseMs: 3_000 });
    const event = eventOf('a');
    const answer = send(event);
    const { succeed } = await passUntil(pass, held.calls.nth(1));
    expect(renewed).toEqual([event.id, KEY_A]);
    succeed();
    expect(await passUntil(pass, answer)).toEqual(accepted('processed', event.id));
  });

  test('a key that another process has taken is waited for', async () => {
    let release = (): unknown => undefined;
    const { held, claims, send } = openBlocked(async (memory) => {
      expect(await memory.claim({ ...another, id: KEY_A })).toMatchObject({ state: 'claimed' });
      release = () => memory.release({ ...another, id: KEY_A, handled: [] });
    });
    const event = eventOf('a');
    const answer = send(event);
    await until('the key is claimed again', () => claims.filter((id) => id === KEY_A).length > 1);
    expect(held.calls.all).toEqual([]);
    release();
    (await held.calls.nth(1)).succeed();
    expect(await answer).toEqual(accepted('processed', event.id));
  });

  test.each([
    ['running', refused(503, 'event_running')],
    ['completed', undefined],
  ])('an event that another process has taken is %s', async (state, expected) => {
    const event = eventOf('a');
    const { held, send, store } = openBlocked(async (memory) => {
      expect(await memory.claim({ ...another, id: event.id })).toMatchObject({ state: 'claimed' });
      if (state === 'completed') await memory.complete({ ...another, id: event.id });
    });
    expect(await send(event)).toEqual(expected ?? accepted('duplicate', event.id));
    expect(held.calls.all).toEqual([]);
    // The key is given back.
    const other = eventOf('a');
    const next = send(other);
    (await held.calls.nth(1)).succeed();
    expect(await next).toEqual(accepted('processed', other.id));
    expect(await store.claim({ ...another, id: KEY_A })).toMatchObject({ state: 'claimed' });
  });
});

test('the dead letter of a last attempt says that another process may be running its event', async () => {
  const pass = fakeTime();
  const memory = createMemoryStore();
  let isTaken = false;
  const store: Store = {
    ...memory,
    renew: (request) => (isTaken && request.id !== KEY_A ? { state: 'lost' } : memory.renew(request)),
    release: (request) => (isTaken && request.id !== KEY_A ? { state: 'lost' } : memory.release(request)),
  };
  const deadLetters = createMapDeadLetters();
  const { held, send } = openHeld({ store, deadLetters, leaseMs: 3_000 });
  const first = send(eventOf('a'));
  await passUntil(pass, held.calls.nth(1));
  const event = eventOf('a', Date.now() - 15 * MINUTE_MS);
  const second = send(event);
  await pass(500);
  isTaken = true;
  await memory.release({ ...another, id: event.id, handled: [] });
  await pass(3_000);
  held.calls.all[0]?.succeed();
  await passUntil(pass, first);
  expect(await passUntil(pass, second)).toEqual(accepted('parked', event.id));
  expect(held.calls.all).toHaveLength(1);
  expect(await letterOf(deadLetters, event.id)).toMatchObject({
    reason: 'event_running',
    runningUntil: expect.any(Number),
  });
});

test('the signal of a handler aborts if another process takes its key, and the report warns', async () => {
  const pass = fakeTime();
  let frozenMs = 0;
  // The store's clock goes on while the process is frozen.
  const store = createMemoryStore({ now: () => performance.now() + frozenMs });
  const { held, reports, send } = openHeld({ store, leaseMs: 3_000 });
  const event = eventOf('a');
  const answer = send(event);
  const { context, succeed } = await passUntil(pass, held.calls.nth(1));
  await pass(2_000);
  expect(context.signal.aborted).toBe(false);
  // The lease of the event has ended as well, but nobody takes it.
  frozenMs = 4_000;
  expect(await store.claim({ ...another, id: KEY_A })).toMatchObject({ state: 'claimed' });
  await pass(1_100);
  expect(context.signal.reason).toMatchObject({ code: 'lease_lost' });
  const message = 'the lease of the key of the handler "book" ran out and another process has taken the key';
  expect(context.signal.reason).toHaveProperty('message', message);
  // As after a lost lease of the event, the run waits for its handler, whose success counts.
  succeed();
  expect(await passUntil(pass, answer)).toEqual(accepted('processed', event.id));
  expect(reports.all[0]?.warnings).toContain(`lease_lost: ${message}`);
});

test('the key of a handler is renewed as long as it runs', async () => {
  const pass = fakeTime();
  const store = createMemoryStore();
  const options = { store, leaseMs: 3_000 };
  const [one, other] = [openHeld(options), openHeld(options)];
  const first = one.send(eventOf('a'));
  const { succeed } = await passUntil(pass, one.held.calls.nth(1));
  const second = other.send(eventOf('a'));
  await pass(15_000);
  expect(other.held.calls.all).toEqual([]);
  succeed();
  (await passUntil(pass, other.held.calls.nth(1))).succeed();
  for (const answer of [first, second]) expect(await passUntil(pass, answer)).toHaveProperty('status', 200);
});

test('an event that waits for its key keeps its own claim', async () => {
  const pass = fakeTime();
  const store = createMemoryStore();
  const { held, send } = openHeld({ store, leaseMs: 3_000 });
  const first = send(eventOf('a'));
  await passUntil(pass, held.calls.nth(1));
  const event = eventOf('a');
  const second = send(event);
  await pass(12_000);
  expect(await store.claim({ ...another, id: event.id })).toMatchObject({ state: 'busy' });
  held.calls.all[0]?.succeed();
  (await passUntil(pass, held.calls.nth(2))).succeed();
  for (const answer of [first, second]) expect(await passUntil(pass, answer)).toHaveProperty('status', 200);
});
