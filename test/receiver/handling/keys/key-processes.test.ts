import { createMemoryStore, type Receiver, type Store } from 'posthorn';
import { expect, test } from 'vitest';
import { fakeTime, passUntil } from '../../../support/fake-time.ts';
import { accepted, openDirectly, refused } from '../../../support/open-endpoint.ts';
import { Seen } from '../../../support/seen.ts';
import { byResource, claimAndDie, eventOf, gatedReleases, KEY_A, openHeld } from './keyed-events.ts';

// Two receivers that share a store stand for two processes.

/** The longest pause between two claims of a busy id, and a step of the time. */
const POLL_MS = 400 + 20;

test('an event of another process begins soon after the key was released', async () => {
  const pass = fakeTime();
  const store = createMemoryStore();
  const [one, other] = [openHeld({ store }), openHeld({ store })];
  const first = one.send(eventOf('a'));
  const { succeed } = await passUntil(pass, one.held.calls.nth(1));
  const second = other.send(eventOf('a'));
  await pass(3_000);
  expect(other.held.calls.all).toEqual([]);
  succeed();
  const releasedAt = performance.now();
  (await passUntil(pass, other.held.calls.nth(1))).succeed();
  expect(performance.now() - releasedAt).toBeLessThanOrEqual(POLL_MS);
  for (const answer of [first, second]) expect(await passUntil(pass, answer)).toHaveProperty('status', 200);
  const [{ keyWaitMs = 0 } = {}] = other.reports.all[0]?.handlers ?? [];
  expect(keyWaitMs).toBeGreaterThanOrEqual(2_980);
  expect(keyWaitMs).toBeLessThanOrEqual(3_000 + POLL_MS);
});

test('the key of a process that was killed is free once its lease has ended', async () => {
  const pass = fakeTime();
  const store = createMemoryStore();
  await claimAndDie(store, 5_000);
  const { held, send } = openHeld({ store });
  const startedAt = performance.now();
  const answer = send(eventOf('a'));
  (await passUntil(pass, held.calls.nth(1))).succeed();
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(5_000);
  expect(performance.now() - startedAt).toBeLessThanOrEqual(5_100);
  expect(await passUntil(pass, answer)).toHaveProperty('status', 200);
});

test('key_busy names the handler, and says when the key of a killed process is free', async () => {
  const pass = fakeTime();
  const store = createMemoryStore();
  await claimAndDie(store);
  const { send, reports } = openHeld({ store });
  const startedAt = performance.now();
  expect(await passUntil(pass, send(eventOf('a')))).toEqual(refused(503, 'key_busy'));
  const message = reports.all[0]?.error?.message ?? '';
  const found =
    /^the handler "book" is handling another event of the same key, or this one in an earlier run; if its process was killed, the key is free in (\d+) ms$/;
  const msLeft = Number(found.exec(message)?.[1]);
  expect(msLeft).toBeLessThanOrEqual(60_000 - 18_700);
  expect(msLeft).toBeGreaterThanOrEqual(startedAt + 60_000 - performance.now());
});

test('a key that this process holds has no end that key_busy could say', async () => {
  const pass = fakeTime();
  const memory = createMemoryStore();
  let isBusy = true;
  const store: Store = {
    ...memory,
    claim: (request) =>
      isBusy && request.id === KEY_A ? { state: 'busy', msLeft: 60_000 } : memory.claim(request),
  };
  const { held, send, reports } = openHeld({ store });
  const first = send(eventOf('a'));
  await pass(1_000);
  isBusy = false;
  const { succeed } = await passUntil(pass, held.calls.nth(1));
  expect(await passUntil(pass, send(eventOf('a')))).toEqual(refused(503, 'key_busy'));
  expect(reports.all[0]?.error?.message).toBe(
    'the handler "book" is handling another event of the same key, or this one in an earlier run',
  );
  succeed();
  expect(await passUntil(pass, first)).toHaveProperty('status', 200);
});

/** Two processes with handlers of 450 ms, and the names of the processes in the order of their handlers. */
function openBusy(store: Store) {
  const pass = fakeTime();
  const ran = new Seen<string>();
  const open = (process: string) =>
    openDirectly({ store }, (receiver: Receiver) =>
      receiver.on(
        '*',
        () => {
          ran.add(process);
          return new Promise((resolve) => setTimeout(resolve, 450));
        },
        byResource,
      ),
    );
  return { pass, ran, one: open('one'), other: open('other') };
}

test('a process that hands the key on for two seconds gives the others their chance', async () => {
  const { pass, ran, one, other } = openBusy(createMemoryStore());
  const answers = Array.from({ length: 12 }, () => one.send(eventOf('a')));
  await passUntil(pass, ran.nth(1));
  answers.push(other.send(eventOf('a')));
  for (const answer of answers) expect(await passUntil(pass, answer)).toHaveProperty('status', 200);
  // Five handlers of 450 ms are the first that take two seconds.
  expect(ran.all).toEqual([...Array(5).fill('one'), 'other', ...Array(7).fill('one')]);
});

test('a process alone gives others a chance less often: after two seconds, and then after four', async () => {
  const memory = createMemoryStore();
  let claims = 0;
  const { pass, ran, one } = openBusy({
    ...memory,
    claim: (request) => {
      if (request.id === KEY_A) claims += 1;
      return memory.claim(request);
    },
  });
  const answers = Array.from({ length: 16 }, () => one.send(eventOf('a')));
  // Nine handlers of 450 ms are the first that take four seconds.
  for (const [handler, claimsBefore] of [
    [5, 1],
    [6, 2],
    [14, 2],
    [15, 3],
  ] as const) {
    await passUntil(pass, ran.nth(handler));
    expect(claims).toBe(claimsBefore);
  }
  for (const answer of answers) expect(await passUntil(pass, answer)).toHaveProperty('status', 200);
});

test('events that come one by one, each while the key is being released, leave the others their chance', async () => {
  const memory = createMemoryStore();
  const { pass, ran, one, other } = openBusy({
    ...memory,
    release: async (request) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return memory.release(request);
    },
  });
  const answers = [one.send(eventOf('a'))];
  await passUntil(pass, ran.nth(1));
  const ofOther = other.send(eventOf('a'));
  // The answer does not wait for the release.
  for (let count = 0; count < 9; count += 1) {
    await passUntil(pass, answers.at(-1) ?? expect.fail());
    answers.push(one.send(eventOf('a')));
  }
  for (const answer of [...answers, ofOther])
    expect(await passUntil(pass, answer)).toHaveProperty('status', 200);
  // The last release must end before the time flows again.
  await pass(100);
  expect(ran.all.indexOf('other')).toBe(4);
});

test('an event that comes while the key is being released begins right after that', async () => {
  const pass = fakeTime();
  const { store, gate } = gatedReleases();
  const { held, send } = openHeld({ store });
  const first = send(eventOf('a'));
  gate.shut();
  (await passUntil(pass, held.calls.nth(1))).succeed();
  expect(await passUntil(pass, first)).toHaveProperty('status', 200);
  await passUntil(pass, gate.held.nth(1));
  const event = eventOf('a');
  const second = send(event);
  await pass(100);
  expect(held.calls.all).toHaveLength(1);
  gate.open();
  const openedAt = performance.now();
  (await passUntil(pass, held.calls.nth(2))).succeed();
  expect(performance.now() - openedAt).toBeLessThanOrEqual(40);
  expect(await passUntil(pass, second)).toEqual(accepted('processed', event.id));
});
