import { createMemoryStore } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { fakeTime, passUntil } from '../../../support/fake-time.ts';
import { Gate } from '../../../support/gate.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { letterOf } from '../../../support/letter-of.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import { accepted, openDirectly, refused } from '../../../support/open-endpoint.ts';
import { MINUTE_MS } from '../../../support/step-clock.ts';
import { byResource, claimAndDie, eventOf, KEY_A, openHeld, recordingStore } from './keyed-events.ts';

/** A receiver on a store in which another process has the key "a" for a minute. */
async function openBusy(options: { readonly retryScheduleMs?: readonly number[] } = {}) {
  const pass = fakeTime();
  const store = createMemoryStore();
  await claimAndDie(store);
  const deadLetters = createMapDeadLetters();
  return { pass, store, deadLetters, ...openHeld({ store, deadLetters, ...options }) };
}

describe('at a last attempt', () => {
  test.each([
    ['by the age of the event', 15 * MINUTE_MS, {}],
    ['by the number of attempts', 0, { retryScheduleMs: [] }],
  ])('%s, key_busy is parked, and no handler may be running any more', async (_, ageMs, options) => {
    const { pass, deadLetters, held, reports, send } = await openBusy(options);
    const event = eventOf('a', Date.now() - ageMs);
    const answer = send(event);
    await pass(1_000);
    const meanwhile = await letterOf(deadLetters, event.id);
    expect(meanwhile).toMatchObject({ reason: 'run_abandoned', runningUntil: expect.any(Number) });
    expect(await passUntil(pass, answer)).toEqual(accepted('parked', event.id));
    const letter = await letterOf(deadLetters, event.id);
    expect(letter).toMatchObject({ reason: 'key_busy', attempts: 1 });
    expect(letter.runningUntil).toBeUndefined();
    expect(reports.all).toMatchObject([{ outcome: 'parked', code: 'key_busy', final: true, handlers: [] }]);
    expect(held.calls.all).toEqual([]);
  });

  test('the dead letter is removed once its event gets the key', async () => {
    const { pass, deadLetters, held, send } = await openBusy();
    const event = eventOf('b', Date.now() - 15 * MINUTE_MS);
    const answer = send(event);
    (await passUntil(pass, held.calls.nth(1))).succeed();
    expect(await passUntil(pass, answer)).toEqual(accepted('processed', event.id));
    expect(await deadLetters.get(event.id)).toBeUndefined();
  });
});

test('key_busy is not parked if a retry will come', async () => {
  const { pass, deadLetters, send } = await openBusy();
  const event = eventOf('a');
  expect(await passUntil(pass, send(event))).toEqual(refused(503, 'key_busy'));
  expect(await deadLetters.get(event.id)).toBeUndefined();
});

test('a concurrent duplicate gets the same answer, and the next attempt runs', async () => {
  const { pass, held, reports, send } = await openBusy();
  const event = eventOf('a');
  const answers = [send(event), send(event)];
  for (const answer of answers) expect(await passUntil(pass, answer)).toEqual(refused(503, 'key_busy'));
  expect(reports.all.map(({ outcome }) => outcome)).toEqual(['busy', 'busy']);
  await pass(60_000);
  const retry = send(event);
  const call = await passUntil(pass, held.calls.nth(1));
  expect(call.context.attempt).toBe(2);
  call.succeed();
  expect(await passUntil(pass, retry)).toEqual(accepted('processed', event.id));
});

describe('the body of an event that waits for a key is counted', () => {
  const limits = { maxBufferedBytes: 1_000, maxBodyBytes: 1_000 };
  const large = (id = 'a') => createEvent('transfer.created', { id, note: 'x'.repeat(600) });

  /** The events are claimed when the gate is open: their bodies have been read by then. */
  function openGated() {
    const pass = fakeTime();
    const gate = new Gate();
    const { store } = recordingStore((memory) => ({
      claim: async (request) => {
        if (request.id !== KEY_A) await gate.pass();
        return memory.claim(request);
      },
    }));
    gate.shut();
    return { pass, gate, store, ...openHeld({ store, ...limits }) };
  }

  test.each([true, false])(
    'if another process has the key (%s), one that does not fit is busy at once',
    async (isOther) => {
      const { pass, gate, held, reports, send, store } = openGated();
      const answers: Promise<unknown>[] = [];
      if (isOther) await claimAndDie(store);
      else {
        gate.open();
        answers.push(send(eventOf('a')));
        await passUntil(pass, held.calls.nth(1));
        gate.shut();
      }
      for (let count = 0; count < 2; count += 1) {
        answers.push(send(large()));
        await passUntil(pass, gate.held.nth(count + 1));
      }
      gate.open();
      const openedAt = performance.now();
      await passUntil(pass, reports.nth(1));
      expect(performance.now() - openedAt).toBeLessThanOrEqual(40);
      expect(reports.all).toMatchObject([{ code: 'key_busy' }]);
      // The other one waits: a third does not even fit in while it is read.
      expect(await passUntil(pass, send(large()))).toEqual(refused(503, 'buffer_full'));
      await passUntil(pass, reports.nth(3));
      expect(reports.all[2]).toMatchObject({ code: 'key_busy' });
      expect(performance.now() - openedAt).toBeGreaterThan(10_000);
      // Nothing is counted after its answer.
      const fourth = send(large('b'));
      const call = await passUntil(pass, held.calls.nth(isOther ? 1 : 2));
      call.succeed();
      held.calls.all[0]?.succeed();
      expect(await passUntil(pass, fourth)).toHaveProperty('status', 200);
      for (const answer of answers) await passUntil(pass, answer);
    },
  );

  test('until its handler begins', async () => {
    const pass = fakeTime();
    const { held, send } = openHeld(limits);
    const answers = [send(eventOf('a'))];
    await passUntil(pass, held.calls.nth(1));
    answers.push(send(large()));
    await pass(100);
    expect(await passUntil(pass, send(large()))).toEqual(refused(503, 'buffer_full'));
    held.calls.all[0]?.succeed();
    await passUntil(pass, held.calls.nth(2));
    answers.push(send(large()));
    await pass(100);
    held.calls.all[1]?.succeed();
    (await passUntil(pass, held.calls.nth(3))).succeed();
    for (const answer of answers) expect(await passUntil(pass, answer)).toHaveProperty('status', 200);
  });
});

test('200 events of one key do not keep those of 20 others, whatever waits', async () => {
  const { store, claims } = recordingStore();
  const held = new HeldHandler();
  const ran: string[] = [];
  const { send } = openDirectly({ store, maxRunning: 20 }, (receiver) =>
    receiver.on(
      '*',
      (event, context) => {
        ran.push(String(event.data.id));
        return event.data.id === 'a' ? held.handle(event, context) : undefined;
      },
      byResource,
    ),
  );
  const hot = Array.from({ length: 200 }, () => send(eventOf('a')));
  await held.calls.nth(1);
  const others = await Promise.all(Array.from({ length: 20 }, (_, index) => send(eventOf(`b${index}`))));
  expect(others.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(held.calls.all).toHaveLength(1);
  // One event asks the store for the key, and the others none.
  expect(claims.filter((id) => id === KEY_A)).toHaveLength(1);
  for (let count = 1; count <= 200; count += 1) (await held.calls.nth(count)).succeed();
  for (const answer of hot) expect(await answer).toHaveProperty('status', 200);
  expect(ran).toHaveLength(220);
});
