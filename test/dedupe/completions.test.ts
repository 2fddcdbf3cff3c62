import { createMemoryStore, type Store } from 'posthorn';
import { expect, onTestFinished, test } from 'vitest';
import { letterOf } from '../support/letter-of.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { accepted, eventAt, openEndpoint } from '../support/open-endpoint.ts';
import { MINUTE_MS, StepClock } from '../support/step-clock.ts';

const COMMAND_TIMEOUT_MS = 50;
const PENDING = expect.stringMatching(/^completion_pending: /);

const away = (): Promise<never> => Promise.reject(new Error('ECONNREFUSED'));

/** A store that can be switched off; at the end of the test it is on, so that nothing stays pending. */
function createSwitchedStore(now?: () => number) {
  const store = createMemoryStore(now && { now });
  const state = { isAway: false };
  onTestFinished(() => {
    state.isAway = false;
  });
  const switched: Store = {
    commandTimeoutMs: COMMAND_TIMEOUT_MS,
    claim: (request) => (state.isAway ? away() : store.claim(request)),
    renew: (request) => (state.isAway ? away() : store.renew(request)),
    complete: (request) => (state.isAway ? away() : store.complete(request)),
    release: (request) => (state.isAway ? away() : store.release(request)),
  };
  return { state, store, switched };
}

test('an event that this process completed while the store is away is a duplicate to a replay', async () => {
  const clock = new StepClock();
  const { state, switched } = createSwitchedStore(clock.now);
  const deadLetters = createMapDeadLetters();
  let isMended = false;
  let runs = 0;
  const options = { now: clock.now, store: switched, deadLetters, onStoreFailure: 'process' } as const;
  const { receiver, send } = await openEndpoint(options, (fresh) =>
    fresh.on('transfer.*', () => {
      runs += 1;
      if (!isMended) throw new Error('poison');
    }),
  );
  const event = eventAt(clock.startedAt);
  clock.moveTo(15 * MINUTE_MS);
  expect(await send(event)).toEqual(accepted('parked', event.id));
  const letter = await letterOf(deadLetters, event.id);
  isMended = true;
  state.isAway = true;
  expect(await receiver.replay(letter)).toMatchObject({
    outcome: 'processed',
    warnings: expect.arrayContaining([PENDING]),
  });
  expect(runs).toBe(2);
  // The letter comes back, as one does that another process was about to write.
  await deadLetters.put(letter);
  expect(await receiver.replay(letter)).toMatchObject({ outcome: 'duplicate', status: 200 });
  expect(await deadLetters.get(event.id)).toBeUndefined();
  expect(await send(event)).toEqual(accepted('duplicate', event.id));
  expect(runs).toBe(2);
});

test('a completion that the store always refuses does not hold up the others', async () => {
  const { state, store, switched } = createSwitchedStore();
  let isRefusing = true;
  onTestFinished(() => {
    isRefusing = false;
  });
  const event = eventAt(Date.now());
  const refusedAlways = { ...event, id: 'evt_refused_always' };
  const picky: Store = {
    ...switched,
    complete: (request) =>
      isRefusing && request.id === refusedAlways.id ? away() : switched.complete(request),
  };
  let runs = 0;
  const { reports, send } = await openEndpoint({ store: picky }, (receiver) =>
    receiver.on('transfer.*', () => {
      runs += 1;
      state.isAway = true;
    }),
  );
  expect(await send(refusedAlways)).toEqual(accepted('processed', refusedAlways.id));
  state.isAway = false;
  expect(await send(event)).toEqual(accepted('processed', event.id));
  expect(reports.all).toMatchObject([
    { warnings: expect.arrayContaining([PENDING]) },
    { warnings: expect.arrayContaining([PENDING]) },
  ]);
  state.isAway = false;
  const claimByAnother = () =>
    store.claim({ id: event.id, token: 'another', leaseMs: 1, retentionMs: 1_000 });
  await expect.poll(claimByAnother, { timeout: 10_000 }).toEqual({ state: 'completed' });
  // The refused one is remembered all the while.
  expect(await send(refusedAlways)).toEqual(accepted('duplicate', refusedAlways.id));
  expect(runs).toBe(2);
});
