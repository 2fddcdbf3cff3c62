import { createMemoryStore, type DeadLetters, type Queue, type QueuedJob, type Store } from 'posthorn';
import { beforeEach, describe, expect, test } from 'vitest';
import { flowingTime } from '../../../support/fake-time.ts';
import { Gate } from '../../../support/gate.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { letterOf } from '../../../support/letter-of.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import { accepted, type EndpointOptions, eventAt, openDirectly } from '../../../support/open-endpoint.ts';
import { Seen } from '../../../support/seen.ts';
import { MINUTE_MS, stepClocked } from '../../../support/step-clock.ts';
import { slowLetters } from './slow-letters.ts';

beforeEach(flowingTime);

const LEASE_MS = 5 * MINUTE_MS;

/**
 * Two receivers with one store and one place for letters, as of two processes. The first one is running the
 * event, but looks dead: its lease has run out. The last retry comes to the second one, which is storing the
 * letter of an abandoned attempt: the last one by the event's age, or by the number of attempts.
 */
async function openAbandoned(
  optionsOfOther: (shared: { store: Store }) => EndpointOptions = () => ({}),
  { queue, isLastByCount = false }: { readonly queue?: Queue; readonly isLastByCount?: boolean } = {},
) {
  const { clock, store, deadLetters } = stepClocked();
  const { slowDeadLetters, putting } = slowLetters(deadLetters);
  const held = new HeldHandler();
  const retryScheduleMs = [MINUTE_MS, isLastByCount ? 60 * MINUTE_MS : LEASE_MS];
  const shared = { now: clock.now, store, leaseMs: LEASE_MS, retryScheduleMs, queue };
  const open = (options: EndpointOptions) =>
    openDirectly({ ...shared, ...options }, (receiver) => {
      receiver.on('transfer.*', held.handle, { name: 'check' });
      if (queue !== undefined) receiver.on('transfer.*', () => {}, { name: 'book', queue: true });
    });
  const frozen = open({ deadLetters });
  const other = open({ deadLetters: slowDeadLetters, ...optionsOfOther({ store }) });
  const event = eventAt(clock.startedAt);
  if (isLastByCount) {
    const failing = frozen.send(event);
    (await held.calls.nth(1)).fail(new Error('locked'));
    await failing;
    clock.step(MINUTE_MS);
  }
  const running = frozen.send(event);
  const call = await held.calls.nth(isLastByCount ? 2 : 1);
  clock.step(LEASE_MS + MINUTE_MS);
  const retried = other.send(event);
  const goOn = await putting.nth(1);
  return { ...other, call, clock, deadLetters, event, goOn, held, open, retried, running };
}

describe('an attempt that looked abandoned, and completes the event while its letter is stored', () => {
  test('makes the retry a duplicate, and no letter is left', async () => {
    const { call, deadLetters, event, goOn, held, reports, retried, running } = await openAbandoned();
    call.succeed();
    expect(await running).toEqual(accepted('processed', event.id));
    goOn();
    expect(await retried).toEqual(accepted('duplicate', event.id));
    expect(reports.all).toMatchObject([{ outcome: 'duplicate', warnings: [] }]);
    expect(await deadLetters.get(event.id)).toBeUndefined();
    expect(held.calls.all).toHaveLength(1);
  });

  test('leaves no letter if the store answers the release late', async () => {
    const { call, deadLetters, event, goOn, retried, reports, running } = await openAbandoned(({ store }) => {
      let releases = 0;
      const release: Store['release'] = (request) => {
        releases += 1;
        if (releases === 1) throw new Error('the connection was lost');
        return store.release(request);
      };
      return { store: { ...store, release } };
    });
    call.succeed();
    expect(await running).toEqual(accepted('processed', event.id));
    goOn();
    expect(await retried).toEqual(accepted('parked', event.id));
    expect(reports.all[0]?.warnings).toEqual([expect.stringMatching(/^release_failed: /)]);
    await expect.poll(() => deadLetters.get(event.id)).toBeUndefined();
  });
});

/** The event has been queued; `work` handles it as a worker does. */
async function openQueued(isLastByCount: boolean) {
  const jobs = new Seen<QueuedJob>();
  const queue: Queue = { add: async (job) => jobs.add(job), close: async () => {} };
  const opened = await openAbandoned(() => ({}), { queue, isLastByCount });
  opened.call.succeed();
  expect(await opened.running).toMatchObject({ body: { outcome: 'queued' } });
  const work = async (): Promise<void> => {
    const { receiver } = opened.open({ deadLetters: opened.deadLetters });
    const attempt = { attempt: 1, final: false, signal: new AbortController().signal };
    expect(await receiver.dispatch(await jobs.nth(1), attempt)).toMatchObject({ outcome: 'processed' });
  };
  return { ...opened, work };
}

test('an event that workers have handled while the letter of its enqueueing was stored has no letter', async () => {
  const { deadLetters, event, goOn, retried, work } = await openQueued(false);
  await work();
  goOn();
  expect(await retried).toEqual(accepted('duplicate', event.id));
  expect(await deadLetters.get(event.id)).toBeUndefined();
});

test('a letter that is stored before workers have handled the event is removed by them', async () => {
  const { deadLetters, event, goOn, retried, work } = await openQueued(true);
  goOn();
  expect(await retried).toEqual(accepted('duplicate', event.id));
  await work();
  expect(await deadLetters.get(event.id)).toBeUndefined();
});

test('a letter that is stored after its claim was lost is removed by the run that completes the event', async () => {
  const { clock, deadLetters, event, goOn, held, open, retried } = await openAbandoned();
  clock.step(LEASE_MS + 1);
  const third = open({ deadLetters });
  const replayed = third.receiver.replay({
    id: event.id,
    type: event.type,
    reason: 'handler_failed',
    message: 'an earlier delivery',
    rawBody: Buffer.from(JSON.stringify(event)),
    headers: {},
    receivedAt: clock.startedAt,
    parkedAt: clock.startedAt,
    attempts: 1,
    handled: [],
  });
  const call = await held.calls.nth(2);
  goOn();
  expect(await retried).toEqual(accepted('parked', event.id));
  call.succeed();
  expect(await replayed).toMatchObject({ outcome: 'processed' });
  expect(await deadLetters.get(event.id)).toBeUndefined();
});

test('a letter that is stored beside a claim without an answer is removed if the event was handled', async () => {
  const { clock, store, deadLetters } = stepClocked();
  const event = eventAt(clock.startedAt);
  const claims = new Seen<(error: Error) => void>();
  const shared = { now: clock.now, deadLetters, deadlineMs: 1_000, maxRunMs: 200_000 };
  const claim: Store['claim'] = () => new Promise((_resolve, reject) => claims.add(reject));
  const other = openDirectly({ ...shared, store: { ...store, claim } });
  const first = openDirectly({ ...shared, store });
  clock.moveTo(15 * MINUTE_MS);
  const parked = other.send(event);
  const fail = await claims.nth(1);
  expect(await first.send(event)).toEqual(accepted('processed', event.id));
  expect(await parked).toEqual(accepted('parked', event.id));
  fail(new Error('the connection was lost'));
  await expect.poll(() => deadLetters.get(event.id)).toBeUndefined();
});

test('an id that is read again by a claim, which gets no answer, is given back', async () => {
  const { peek: _, ...store } = createMemoryStore();
  const requests = new Seen<Parameters<Store['claim']>[0]>();
  const claim: Store['claim'] = async (request) => {
    await store.claim(request);
    requests.add(request);
    throw new Error('the answer was lost');
  };
  const deadLetters = createMapDeadLetters();
  const { send } = openDirectly({ deadLetters, store: { ...store, claim } });
  const tooOld = eventAt(Date.now() - 2_000 * MINUTE_MS);
  expect(await send(tooOld)).toEqual(accepted('parked', tooOld.id));
  const request = await requests.nth(1);
  const readAgain = () => store.claim({ ...request, token: 'another' });
  await expect.poll(readAgain).toMatchObject({ state: 'claimed', abandoned: 0 });
});

test('a letter that is written so late that its event has been replayed meanwhile is removed again', async () => {
  const { clock, store, deadLetters } = stepClocked();
  const putting = new Gate();
  const landed = new Seen<string>();
  const put: DeadLetters['put'] = async (letter) => {
    await putting.pass();
    await deadLetters.put(letter);
    landed.add(letter.reason);
  };
  const options = { now: clock.now, store };
  const failing = openDirectly({ ...options, deadLetters: { ...deadLetters, put } }, (receiver) =>
    receiver.on('*', () => {
      putting.shut();
      throw new Error('no');
    }),
  );
  const other = openDirectly({ ...options, deadLetters });
  const event = eventAt(clock.startedAt - 15 * MINUTE_MS);
  expect(await failing.send(event)).toEqual(accepted('parked', event.id));
  // The letter that is there says that its handlers may be running.
  clock.step(5 * MINUTE_MS);
  const letter = await letterOf(deadLetters, event.id);
  expect(await other.receiver.replay(letter)).toMatchObject({ outcome: 'processed' });
  expect(await deadLetters.get(event.id)).toBeUndefined();
  putting.open();
  expect(await landed.nth(2)).toBe('handler_failed');
  await expect.poll(() => deadLetters.get(event.id)).toBeUndefined();
});
