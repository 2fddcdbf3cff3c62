import { createMemoryStore, type Store } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { mergeRecords } from '../../../src/receiver/journal/record.ts';
import { WaitingRecords } from '../../../src/receiver/journal/waiting-records.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { accepted, eventAt, on, refused } from '../../support/open-endpoint.ts';
import { MINUTE_MS, stepClocked } from '../../support/step-clock.ts';
import { throwing } from '../../support/throwing.ts';
import { createSeenJournal, openJournaled, openJournaledDirectly } from './journaled.ts';

const event = createEvent('transfer.succeeded');

/** The records that a receiver adds, before it merges those of one event. */
function watchRecords() {
  const add = vi.spyOn(WaitingRecords.prototype, 'add');
  onTestFinished(() => add.mockRestore());
  return () => add.mock.calls.map(([record]) => record);
}

test('deliveries that join a run add to the count, and give no further body', async () => {
  const added = watchRecords();
  const held = new HeldHandler();
  const { onlyEntry, reports, send } = openJournaledDirectly({}, on('*', held.handle));
  const first = send(event);
  const call = await held.calls.nth(1);
  const joining = Array.from({ length: 4 }, () => send(event));
  // Each has joined the run when the event loop comes round again.
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  call.succeed();
  expect(await first).toEqual(accepted('processed', event.id));
  expect(await Promise.all(joining)).toEqual(Array(4).fill(accepted('duplicate', event.id)));
  // A duplicate of a run that has ended would have a run of its own.
  const ofJoined = reports.all.filter(({ outcome }) => outcome === 'duplicate');
  expect(ofJoined.map(({ runId }) => runId)).toEqual(Array(4).fill(undefined));
  expect(added().filter(({ rawBody, headers }) => (rawBody ?? headers) !== undefined)).toHaveLength(1);
  expect(added()).toHaveLength(5);
  expect(await onlyEntry()).toMatchObject({ outcome: 'processed', deliveries: 5, attempts: 1 });
});

test('a duplicate gives no body, in the same process and in another one', async () => {
  const added = watchRecords();
  const store = createMemoryStore();
  const { send } = openJournaledDirectly({ store });
  expect(await send(event)).toEqual(accepted('processed', event.id));
  expect(await send(event)).toEqual(accepted('duplicate', event.id));
  const next = openJournaledDirectly({ store });
  expect(await next.send(event)).toEqual(accepted('duplicate', event.id));
  expect(added().map(({ rawBody }) => rawBody)).toEqual([expect.any(Uint8Array), undefined, undefined]);
});

test('a later duplicate only counts, and moves the time of the last delivery', async () => {
  const { clock, store } = stepClocked();
  const { onlyEntry, send } = openJournaledDirectly(
    { now: clock.now, store },
    on('*', () => {}, { name: 'book' }),
  );
  const dated = eventAt(clock.startedAt);
  expect(await send(dated)).toEqual(accepted('processed', dated.id));
  clock.moveTo(MINUTE_MS);
  expect(await send(dated)).toEqual(accepted('duplicate', dated.id));
  expect(await onlyEntry()).toMatchObject({
    outcome: 'processed',
    deliveries: 2,
    attempts: 1,
    handled: ['book'],
    firstReceivedAt: clock.startedAt,
    lastReceivedAt: clock.startedAt + MINUTE_MS,
    rawBody: expect.any(Uint8Array),
  });
});

test('the time of the last delivery never goes back with the clock', async () => {
  const { clock, store } = stepClocked();
  const { onlyEntry, send } = openJournaledDirectly({ now: clock.now, store });
  const dated = eventAt(clock.startedAt);
  await send(dated);
  clock.moveTo(-1_000);
  await send(dated);
  expect(await onlyEntry()).toMatchObject({
    firstReceivedAt: clock.startedAt - 1_000,
    lastReceivedAt: clock.startedAt,
  });
});

describe('of two processes', () => {
  /** Two receivers with one store and one journal, each with a handler of its own. */
  async function openTwo(deadlineMs: number) {
    const { journal, records } = createSeenJournal();
    const store = createMemoryStore();
    const held = new HeldHandler();
    const options = { journal, store, deadlineMs };
    const first = await openJournaled(
      { ...options, deadlineMs: 20_000 },
      on('*', held.handle, { name: 'book' }),
    );
    const second = await openJournaled(options, on('*', held.handle, { name: 'book' }));
    return { first, second, held, records };
  }

  test.each(['first', 'second'] as const)('the %s may write before the other', async (earlier) => {
    const { held, records, ...processes } = await openTwo(1_000);
    const { first, second } = processes;
    const processed = first.send(event);
    const call = await held.calls.nth(1);
    expect(await second.send(event)).toEqual(refused(503, 'event_running'));
    call.succeed();
    expect(await processed).toEqual(accepted('processed', event.id));
    await processes[earlier].receiver.close();
    if (earlier === 'second')
      expect(records.get(event.id)).toMatchObject({ outcome: 'failed', code: 'event_running' });
    for (const { receiver } of [first, second]) await receiver.close();
    expect([...records.values()]).toMatchObject([
      {
        outcome: 'processed',
        code: undefined,
        deliveries: 2,
        handled: ['book'],
        rawBody: expect.any(Uint8Array),
      },
    ]);
  });

  test('a duplicate may be written before the entry of the run, which then has all that is known', async () => {
    const { first, held, records, second } = await openTwo(20_000);
    const processed = first.send(event);
    (await held.calls.nth(1)).succeed();
    await processed;
    expect(await second.send(event)).toEqual(accepted('duplicate', event.id));
    await second.receiver.close();
    expect(records.get(event.id)).toMatchObject({
      outcome: 'processed',
      deliveries: 1,
      attempts: 0,
      rawBody: undefined,
    });
    await first.receiver.close();
    expect(records.get(event.id)).toMatchObject({
      outcome: 'processed',
      deliveries: 2,
      attempts: 1,
      handled: ['book'],
      rawBody: expect.any(Uint8Array),
    });
  });
});

test('a duplicate does not change the outcome, also if the entry has failed', async () => {
  const memory = createMemoryStore();
  let isCompleted = false;
  const store: Store = {
    ...memory,
    claim: (request) => (isCompleted ? { state: 'completed' } : memory.claim(request)),
  };
  const { onlyEntry, send } = await openJournaled({ store }, on('*', throwing('no mail server')));
  await send(event);
  isCompleted = true;
  expect(await send(event)).toEqual(accepted('duplicate', event.id));
  expect(await onlyEntry()).toMatchObject({ outcome: 'failed', code: 'handler_failed', deliveries: 2 });
});

test('records of one event give the same entry in any order', async () => {
  const { clock, deadLetters, store } = stepClocked();
  const given: Parameters<typeof mergeRecords>[0][] = [];
  const dated = eventAt(clock.startedAt);
  let fails = true;
  const open = () => {
    const { journal } = createSeenJournal(({ records }) => void given.push(...records));
    return openJournaledDirectly({ now: clock.now, store, deadLetters, journal }, (receiver) =>
      receiver
        .on('*', () => {}, { name: 'book' })
        .on(
          '*',
          () => {
            if (fails) throw new Error('no mail server');
          },
          { name: 'mail' },
        ),
    );
  };
  // A delivery of each process: failed, parked, processed by a replay, a duplicate.
  for (const offsetMs of [0, 20 * MINUTE_MS, 21 * MINUTE_MS, 22 * MINUTE_MS]) {
    clock.moveTo(offsetMs);
    const { receiver, send } = open();
    const letter = await deadLetters.get(dated.id);
    fails = letter === undefined;
    if (offsetMs === 21 * MINUTE_MS && letter !== undefined) await receiver.replay(letter);
    else await send(dated);
    await receiver.close();
  }
  expect(given.map(({ outcome }) => outcome)).toEqual(['failed', 'parked', 'processed', 'processed']);
  const merged = permutationsOf(given).map((records) => {
    const { handled, ...entry } = records.reduce(mergeRecords);
    return { ...entry, handled: [...handled].sort() };
  });
  expect(merged[0]).toMatchObject({
    outcome: 'processed',
    deliveries: 3,
    attempts: 3,
    handled: ['book', 'mail'],
  });
  for (const entry of merged) expect(entry).toEqual(merged[0]);
});

function permutationsOf<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, index) =>
    permutationsOf(items.toSpliced(index, 1)).map((rest) => [item, ...rest]),
  );
}
