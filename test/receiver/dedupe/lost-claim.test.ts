import { setImmediate } from 'node:timers/promises';
import { createMemoryStore, createReceiver, type ReceiverOptions, type Report, type Store } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { forwardedClock, stoppedClock } from '../../support/monotonic-clock.ts';
import { accepted, on, openEndpoint, refused } from '../../support/open-endpoint.ts';
import { Seen } from '../../support/seen.ts';
import { KEY } from '../../support/served.ts';
import { unanswered } from '../../support/unanswered.ts';
import { ListQueue } from '../queue/list-queue.ts';

const HOUR_MS = 3_600_000;
/** So long that it ends by the clock of the test alone, on a machine however busy. */
const LEASE_MS = 10_000;
const another = { token: 'another process', retentionMs: HOUR_MS };

let forward: (ms: number) => void;
beforeEach(() => {
  forward = forwardedClock();
});

/** As if something had kept the event loop busy for longer than a lease. */
function blockPastLease(): void {
  forward(1.5 * LEASE_MS);
}

/**
 * Two events whose claims are made in one turn. The handler of the first blocks the event loop past the lease
 * of the second, while another process does something with that one. The memory store answers at once, so it
 * can do so within the blocked turn.
 */
async function handleTwo(
  whileBlocked: (store: Store, id: string) => unknown,
  {
    store = createMemoryStore(),
    ...options
  }: Partial<Pick<ReceiverOptions, 'store' | 'onStoreFailure'>> = {},
) {
  const [first, second] = [createEvent('transfer.succeeded'), createEvent('transfer.succeeded')];
  // Like that of Redis, it answers a turn of the microtask queue later.
  const claim: Store['claim'] = async (request) => store.claim(request);
  const handled: string[] = [];
  const reports: Report[] = [];
  const receiver = createReceiver({
    signingKey: KEY,
    leaseMs: LEASE_MS,
    store: { ...store, claim },
    ...options,
  });
  receiver.observe((report) => reports.push(report));
  receiver.on('transfer.*', async ({ id }) => {
    handled.push(id);
    if (id !== first.id) return;
    blockPastLease();
    await whileBlocked(store, second.id);
  });
  const replies = await Promise.all([first, second].map((event) => receiver.receive(deliveryOf(event))));
  const { status, body } = replies[1] ?? expect.fail('no reply');
  const { outcome, code } = JSON.parse(body);
  const report = reports.find(({ event }) => event?.id === second.id);
  return { isRun: handled.includes(second.id), answer: [status, outcome ?? code], id: second.id, report };
}

describe('an event whose claim ran out before its handlers could start', () => {
  test('is not run again where another process has completed it', async () => {
    const { isRun, answer } = await handleTwo(async (store, id) => {
      expect(await store.claim({ ...another, id, leaseMs: 1_000 })).toMatchObject({ state: 'claimed' });
      await store.complete({ ...another, id });
    });
    expect([isRun, ...answer]).toEqual([false, 200, 'duplicate']);
  });

  test('waits for another process that is handling it, and runs when that one fails', async () => {
    const memory = createMemoryStore();
    let isReleased = false;
    const claim: Store['claim'] = async (request) => {
      const result = await memory.claim(request);
      if (result.state === 'busy' && !isReleased) {
        isReleased = true;
        await memory.release({ ...another, id: request.id, handled: [] });
      }
      return result;
    };
    const whileBlocked = async (_: Store, id: string) =>
      expect(await memory.claim({ ...another, id, leaseMs: HOUR_MS })).toMatchObject({ state: 'claimed' });
    const { isRun, answer, report } = await handleTwo(whileBlocked, { store: { ...memory, claim } });
    expect([isRun, ...answer]).toEqual([true, 200, 'processed']);
    expect(isReleased).toBe(true);
    expect(report).toMatchObject({ attempt: 3, warnings: [] });
  });

  test('runs where nobody has taken it', async () => {
    const { isRun, answer, report } = await handleTwo(() => {});
    expect([isRun, ...answer]).toEqual([true, 200, 'processed']);
    expect(report).toMatchObject({ attempt: 1, warnings: [] });
  });

  test('is refused where the store does not answer, and given back', async () => {
    const memory = createMemoryStore();
    const renew = () => Promise.reject(new Error('ECONNREFUSED'));
    const { isRun, answer, id } = await handleTwo(() => {}, { store: { ...memory, renew } });
    expect([isRun, ...answer]).toEqual([false, 503, 'store_unavailable']);
    expect(await memory.claim({ ...another, id, leaseMs: 1_000 })).toMatchObject({ abandoned: 0 });
  });

  test('runs with a warning where the store does not answer and may fail', async () => {
    const renew = () => Promise.reject(new Error('ECONNREFUSED'));
    const store = { ...createMemoryStore(), renew };
    const { isRun, answer, report } = await handleTwo(() => {}, { store, onStoreFailure: 'process' });
    expect([isRun, ...answer]).toEqual([true, 200, 'processed']);
    expect(report?.warnings).toContainEqual(expect.stringMatching(/^claimed_nothing: .*ECONNREFUSED/));
  });

  test('is refused where each renewal takes as long as the lease', async () => {
    const memory = createMemoryStore();
    const renew: Store['renew'] = async (request) => {
      forward(LEASE_MS);
      return memory.renew(request);
    };
    const { isRun, answer } = await handleTwo(() => {}, { store: { ...memory, renew } });
    expect([isRun, ...answer]).toEqual([false, 503, 'store_unavailable']);
  });
});

test('a handler that blocks past its own lease reports lease_lost', async () => {
  const event = createEvent('transfer.succeeded');
  const { reports, send } = await openEndpoint({ leaseMs: LEASE_MS }, on('transfer.*', blockPastLease));
  expect(await send(event)).toEqual(accepted('processed', event.id));
  expect((await reports.nth(1)).warnings).toContainEqual(expect.stringMatching(/^lease_lost: /));
});

test('a completion whose answer was lost is not taken for that of another process', async () => {
  const memory = createMemoryStore();
  const found = new Seen<string>();
  const renew: Store['renew'] = async (request) => {
    const answer = await memory.renew(request);
    found.add(answer.state);
    return answer;
  };
  let isLost = true;
  const complete: Store['complete'] = async (request) => {
    await memory.complete(request);
    if (!isLost) return { state: 'completed' };
    // By the next try a renewal has found the event completed.
    await found.first((state) => state === 'completed');
    isLost = false;
    throw new Error('ECONNRESET');
  };
  const event = createEvent('transfer.succeeded');
  const { reports, send } = await openEndpoint({
    leaseMs: 300,
    store: { ...memory, renew, complete },
    deadLetters: createMapDeadLetters(),
  });
  expect(await send(event)).toEqual(accepted('processed', event.id));
  expect((await reports.nth(1)).warnings).toEqual([]);
});

test('a run that fails in an unforeseen way gives its id back', async () => {
  const memory = createMemoryStore();
  const claim: Store['claim'] = async (request) =>
    // What no store may answer.
    JSON.parse(JSON.stringify({ ...(await memory.claim(request)), handled: null }));
  const event = createEvent('transfer.succeeded');
  const { send } = await openEndpoint({ store: { ...memory, claim } });
  expect(await send(event)).toEqual(refused(500, 'internal_error'));
  const retry = await memory.claim({ ...another, id: event.id, leaseMs: 1_000 });
  expect(retry).toMatchObject({ state: 'claimed', abandoned: 0 });
});

test('an answer to a renewal that comes after the event was claimed anew aborts nothing', async () => {
  const store = createMemoryStore();
  const [asked, renewing] = [new Seen<{ id: string; token: string }>(), new Seen<() => void>()];
  let renewals = 0;
  const outOfOrder: Store = {
    ...store,
    claim: async (request) => {
      asked.add(request);
      return store.claim(request);
    },
    renew: async (request) => {
      renewals += 1;
      const isFirst = renewals === 1;
      // Meanwhile another process had the event, and has given it back.
      if (isFirst) await store.release({ ...request, handled: [] });
      const answer = await store.renew(request);
      if (isFirst) await new Promise<void>((resolve) => renewing.add(resolve));
      return answer;
    },
  };
  const validate = async (value: unknown) => {
    // Past half of the lease the claim is confirmed, and by then it is lost.
    if (asked.all.length === 1) await renewing.nth(1).then(() => forward(0.4 * 900));
    return { value };
  };
  const schema = { '~standard': { version: 1, vendor: 'test', validate } } as const;
  const held = new HeldHandler();
  const receiver = createReceiver({
    signingKey: KEY,
    leaseMs: 900,
    store: outOfOrder,
    schemas: { transfer: schema },
  });
  const reports: Report[] = [];
  receiver.on('transfer.*', held.handle).observe((report) => reports.push(report));
  const reply = receiver.receive(deliveryOf(createEvent('transfer.succeeded')));
  const call = await held.calls.nth(1);
  expect(asked.all).toHaveLength(2);
  renewing.all[0]?.();
  await setImmediate();
  expect(call.context.signal.aborted).toBe(false);
  call.succeed();
  expect(await reply).toMatchObject({ status: 200 });
  expect(reports).toMatchObject([
    { outcome: 'processed', warnings: [expect.stringMatching(/^dead_letters/)] },
  ]);
});

test('a handler that ends before its late renewal is answered reports it too, and its job may have a letter', async () => {
  const forwardStopped = stoppedClock();
  const event = createEvent('transfer.succeeded');
  const held = new HeldHandler();
  const queue = new ListQueue();
  const renewing = new Seen<string>();
  const renew: Store['renew'] = ({ id }) => {
    renewing.add(id);
    return unanswered();
  };
  const store = { ...createMemoryStore(), renew };
  const { reports, send } = await openEndpoint({ leaseMs: 300, queue, store }, (receiver) =>
    receiver
      .on('transfer.*', held.handle, { name: 'check' })
      .on('transfer.*', () => {}, { name: 'book', queue: true }),
  );
  const answer = send(event);
  const call = await held.calls.nth(1);
  forwardStopped(301);
  await renewing.nth(1);
  call.succeed();
  expect(await answer).toEqual({ ...accepted('queued', event.id), status: 202 });
  expect(queue.jobs[0]?.isParked).toBe(true);
  expect((await reports.nth(1)).warnings).toContainEqual(
    expect.stringMatching(/^lease_lost: the event loop/),
  );
});
