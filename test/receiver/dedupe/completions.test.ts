import { setImmediate } from 'node:timers/promises';
import { createMemoryStore, type Store } from 'posthorn';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { flowingTime } from '../../support/fake-time.ts';
import { Gate } from '../../support/gate.ts';
import { letterOf } from '../../support/letter-of.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { accepted, eventAt, openDirectly, refused } from '../../support/open-endpoint.ts';
import { MINUTE_MS, StepClock } from '../../support/step-clock.ts';

beforeEach(flowingTime);

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
  const { receiver, send } = await openDirectly(options, (fresh) =>
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

describe('completion_pending', () => {
  const deadlineMs = 300;

  /** An endpoint whose completions and releases are held while the gate is shut. */
  async function openSlow(handle: () => unknown) {
    const gate = new Gate();
    const store = createMemoryStore();
    const slow: Store = {
      ...store,
      complete: (request) => gate.pass().then(() => store.complete(request)),
      release: (request) => gate.pass().then(() => store.release(request)),
    };
    const options = { store: slow, deadlineMs, deadLetters: createMapDeadLetters() };
    const endpoint = openDirectly(options, (receiver) => receiver.on('transfer.*', handle));
    gate.shut();
    onTestFinished(gate.open);
    return { ...endpoint, event: eventAt(Date.now()), gate };
  }

  test('is told of an event whose completion is under way at the deadline', async () => {
    const { event, gate, reports, send } = await openSlow(() => 'done');
    expect(await send(event)).toEqual(accepted('processed', event.id));
    expect(gate.held.all).toHaveLength(1);
    expect(reports.all).toMatchObject([{ outcome: 'processed', late: false, warnings: [PENDING] }]);
    gate.open();
    const late = { outcome: 'processed', status: 200, warnings: [] };
    expect(await reports.first((report) => report.late)).toMatchObject(late);
    expect(await send(event)).toEqual(accepted('duplicate', event.id));
    expect(reports.all.at(-1)?.warnings).toEqual([]);
  });

  test('is not told of an event whose failure is being recorded at the deadline', async () => {
    const { event, gate, reports, send } = await openSlow(() => Promise.reject(new Error('not yet')));
    expect(await send(event)).toEqual(refused(500, 'handler_failed'));
    expect(gate.held.all).toHaveLength(1);
    gate.open();
    await reports.first(({ late }) => late);
    expect(reports.all).toMatchObject([
      { outcome: 'failed', late: false, warnings: [] },
      { outcome: 'failed', late: true, warnings: [] },
    ]);
  });

  test('is not told of an event that the store has taken at the second try', async () => {
    const store = createMemoryStore();
    let tries = 0;
    const complete: Store['complete'] = (request) => {
      tries += 1;
      return tries === 1 ? away() : store.complete(request);
    };
    const options = { store: { ...store, complete }, deadLetters: createMapDeadLetters() };
    const { reports, send } = await openDirectly(options, (receiver) => receiver.on('transfer.*', () => {}));
    const event = eventAt(Date.now());
    expect(await send(event)).toEqual(accepted('processed', event.id));
    expect(tries).toBe(2);
    expect(reports.all).toMatchObject([{ outcome: 'processed', late: false, warnings: [] }]);
    const claim = { id: event.id, token: 'another', leaseMs: 1, retentionMs: 1_000 };
    expect(await store.claim(claim)).toEqual({ state: 'completed' });
  });
});

test('a store that comes back is told of one event at a time', async () => {
  const store = createMemoryStore();
  let isAway = true;
  let underWay = 0;
  let mostUnderWay = 0;
  const complete: Store['complete'] = async (request) => {
    if (isAway) return away();
    underWay += 1;
    mostUnderWay = Math.max(mostUnderWay, underWay);
    // In which another one would come to the store.
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    underWay -= 1;
    return store.complete(request);
  };
  // Far above the time that a completion takes, so that none of them is given up.
  const options = { store: { ...store, complete, commandTimeoutMs: 400 } };
  const { send } = await openDirectly(options, (receiver) => receiver.on('transfer.*', () => {}));
  const events = Array.from({ length: 5 }, () => eventAt(Date.now()));
  expect(await Promise.all(events.map((event) => send(event)))).toEqual(
    events.map(({ id }) => accepted('processed', id)),
  );
  isAway = false;
  const stateOf = async ({ id }: { id: string }) =>
    (await store.claim({ id, token: 'another', leaseMs: 1, retentionMs: 1_000 })).state;
  const isTold = async () => (await Promise.all(events.map(stateOf))).every((state) => state === 'completed');
  await expect.poll(isTold).toBe(true);
  expect(mostUnderWay).toBe(1);
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
  const { reports, send } = await openDirectly({ store: picky }, (receiver) =>
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
  await expect.poll(claimByAnother).toEqual({ state: 'completed' });
  // The refused one is remembered all the while.
  expect(await send(refusedAlways)).toEqual(accepted('duplicate', refusedAlways.id));
  expect(runs).toBe(2);
});

test('a completion that is lost with its process: a further delivery runs the handlers again', async () => {
  const { state, store, switched } = createSwitchedStore();
  let runs = 0;
  const dying = await openDirectly({ store: switched, leaseMs: 300 }, (receiver) =>
    receiver.on('transfer.*', () => {
      runs += 1;
      state.isAway = true;
    }),
  );
  const event = eventAt(Date.now());
  expect(await dying.send(event)).toEqual(accepted('processed', event.id));
  expect(dying.reports.all[0]?.warnings).toContainEqual(PENDING);
  // To this one the store is there, and the other has died: nobody tells of the completion.
  const other = await openDirectly({ store }, (receiver) =>
    receiver.on('transfer.*', () => {
      runs += 1;
    }),
  );
  expect(await other.send(event)).toEqual(accepted('processed', event.id));
  expect(other.reports.all).toMatchObject([{ attempt: 2 }]);
  expect(runs).toBe(2);
});
