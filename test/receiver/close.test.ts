import { setTimeout as pause } from 'node:timers/promises';
import { AbortedError, ConfigurationError, createMemoryStore, createReceiver, type Store } from 'posthorn';
import { expect, test } from 'vitest';
import { aborted } from '../support/aborted.ts';
import { awaitedLater } from '../support/awaited-later.ts';
import { deliveryOf } from '../support/delivery-of.ts';
import { HeldHandler } from '../support/held-handler.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { accepted, type EndpointOptions, eventAt, openEndpoint, refused } from '../support/open-endpoint.ts';
import { readAll } from '../support/read-all.ts';
import { Seen } from '../support/seen.ts';
import { KEY } from '../support/served.ts';
import { MINUTE_MS } from '../support/step-clock.ts';

const RUN_CLOSED = expect.objectContaining({ code: 'run_closed' });

async function openHeld(options: EndpointOptions = {}) {
  const held = new HeldHandler();
  const endpoint = await openEndpoint(options, (receiver) => receiver.on('transfer.*', held.handle));
  return { ...endpoint, held, event: eventAt(Date.now()) };
}

test('a receiver at rest closes at once', async () => {
  const { receiver } = await openHeld();
  expect(await receiver.close()).toEqual({ abandoned: [] });
});

test('close waits for running handlers, and refuses new deliveries meanwhile', async () => {
  const { event, held, receiver, reports, send } = await openHeld();
  const running = send(event);
  const call = await held.calls.nth(1);
  const closed = receiver.close();
  const late = eventAt(Date.now());
  expect(await send(late)).toEqual(refused(503, 'closing'));
  expect(await send(event)).toEqual(refused(503, 'closing'));
  expect(reports.all).toMatchObject([
    { outcome: 'failed', code: 'closing', event: { id: late.id } },
    { outcome: 'failed', code: 'closing', event: { id: event.id } },
  ]);
  expect(call.context.signal.aborted).toBe(false);
  call.succeed();
  expect(await closed).toEqual({ abandoned: [] });
  expect(await running).toEqual(accepted('processed', event.id));
  expect(call.context.signal.aborted).toBe(false);
  expect(held.calls.all).toHaveLength(1);
});

test('close waits for handlers whose delivery was answered at the deadline', async () => {
  const { event, held, receiver, reports, send } = await openHeld({ deadlineMs: 100 });
  expect(await send(event)).toEqual(refused(503, 'deadline_reached'));
  const closed = receiver.close();
  held.calls.all[0]?.succeed();
  expect(await closed).toEqual({ abandoned: [] });
  expect(reports.all).toMatchObject([
    { outcome: 'failed', late: false },
    { outcome: 'processed', late: true },
  ]);
});

test('a second close has the outcome of the first', async () => {
  const { event, held, receiver, send } = await openHeld();
  const running = send(event);
  const call = await held.calls.nth(1);
  const closed = receiver.close();
  expect(receiver.close({ graceMs: 0 })).toBe(closed);
  call.succeed();
  expect(await closed).toEqual({ abandoned: [] });
  expect(await running).toEqual(accepted('processed', event.id));
});

test('out of grace, close aborts the handlers, tells their events, and frees them', async () => {
  const store = createMemoryStore();
  const { event, held, receiver, send } = await openHeld({ store });
  const other = eventAt(Date.now());
  const answers = awaitedLater(Promise.all([send(event), send(other)]));
  await held.calls.nth(2);
  const { abandoned } = await receiver.close({ graceMs: 50 });
  expect(new Set(abandoned)).toEqual(new Set([event.id, other.id]));
  expect(await answers).toEqual([refused(503, 'run_closed'), refused(503, 'run_closed')]);
  for (const { context } of held.calls.all) {
    expect(context.signal.reason).toBeInstanceOf(AbortedError);
    expect(context.signal.reason).toEqual(RUN_CLOSED);
  }
  const next = await openHeld({ store });
  const retried = next.send(event);
  const call = await next.held.calls.nth(1);
  expect(call.context.attempt).toBe(2);
  call.succeed();
  expect(await retried).toEqual(accepted('processed', event.id));
});

test('out of grace, close releases the keys of handlers that end when they are aborted', async () => {
  const memory = createMemoryStore();
  const released: string[] = [];
  const store: Store = {
    ...memory,
    // A key takes longer than its event.
    release: async (request) => {
      if (request.id.startsWith('handled:key:')) await pause(50);
      released.push(request.id);
      return memory.release(request);
    },
  };
  const begun = new Seen<string>();
  const { receiver, send } = await openEndpoint({ store }, (given) =>
    given.on(
      'transfer.*',
      ({ id }, { signal }) => {
        begun.add(id);
        return aborted(signal);
      },
      { name: 'book', concurrencyKey: ({ data }) => data.id },
    ),
  );
  const event = { ...eventAt(Date.now()), data: { id: 'tr_1' } };
  const answer = send(event);
  await begun.nth(1);
  expect(await receiver.close({ graceMs: 0 })).toEqual({ abandoned: [event.id] });
  expect(released).toContain('handled:key:4:book:tr_1');
  expect(await answer).toEqual(refused(503, 'run_closed'));
});

test('an abandoned run has lost no lease: its report warns of none', async () => {
  const { event, held, receiver, reports, send } = await openHeld({ deadLetters: createMapDeadLetters() });
  const answer = send(event);
  await held.calls.nth(1);
  await receiver.close({ graceMs: 0 });
  expect(await answer).toEqual(refused(503, 'run_closed'));
  expect(reports.all).toMatchObject([{ code: 'run_closed', warnings: [] }]);
});

test('an abandoned run that succeeds all the same has completed its event', async () => {
  const store = createMemoryStore();
  const { event, held, receiver, send } = await openHeld({ store });
  const answer = send(event);
  const call = await held.calls.nth(1);
  expect(await receiver.close({ graceMs: 0 })).toEqual({ abandoned: [event.id] });
  expect(await answer).toEqual(refused(503, 'run_closed'));
  call.succeed();
  const next = await openHeld({ store });
  expect(await next.send(event)).toEqual(accepted('duplicate', event.id));
});

test('an abandoned last attempt is parked', async () => {
  const deadLetters = createMapDeadLetters();
  const { event, held, receiver, reports, send } = await openHeld({ deadLetters });
  const old = { ...event, created_at: new Date(Date.now() - 15 * MINUTE_MS).toISOString() };
  const answer = send(old);
  await held.calls.nth(1);
  expect(await receiver.close({ graceMs: 0 })).toEqual({ abandoned: [old.id] });
  expect(await answer).toEqual(accepted('parked', old.id));
  const letters = await readAll(deadLetters.list());
  expect(letters).toMatchObject([{ id: old.id, reason: 'run_closed' }]);
  expect(letters[0]?.runningUntil).toBeUndefined();
  expect(reports.all).toMatchObject([{ outcome: 'parked', code: 'run_closed', endpointAtRisk: false }]);
});

test('an event whose handlers have ended is not abandoned, though the store still has to take it', async () => {
  const store = createMemoryStore();
  const completing = new Seen<() => void>();
  const slow: Store = {
    ...store,
    complete: async (request) => {
      await new Promise<void>((resolve) => completing.add(resolve));
      return store.complete(request);
    },
  };
  const { event, held, receiver, send } = await openHeld({ store: slow });
  const answer = send(event);
  const call = await held.calls.nth(1);
  call.succeed();
  const goOn = await completing.nth(1);
  const closed = receiver.close({ graceMs: 20 });
  await aborted(call.context.signal);
  goOn();
  expect(await closed).toEqual({ abandoned: [] });
  expect(await answer).toEqual(accepted('processed', event.id));
});

test('a replay is waited for as well', async () => {
  const deadLetters = createMapDeadLetters();
  const { held, receiver, send } = await openHeld({ deadLetters });
  const event = eventAt(Date.now() - 15 * MINUTE_MS);
  const answer = send(event);
  (await held.calls.nth(1)).fail(new Error('poison'));
  expect(await answer).toEqual(accepted('parked', event.id));
  const letter = await deadLetters.get(event.id);
  if (letter === undefined) throw new Error('no letter');
  const replayed = receiver.replay(letter);
  const call = await held.calls.nth(2);
  expect(await receiver.close({ graceMs: 0 })).toEqual({ abandoned: [event.id] });
  expect(call.context.signal.reason).toEqual(RUN_CLOSED);
  expect(await replayed).toMatchObject({ outcome: 'parked', code: 'run_closed' });
  expect(await readAll(deadLetters.list())).toMatchObject([{ id: event.id, reason: 'run_closed' }]);
});

test('a wrong grace is refused', () => {
  const receiver = createReceiver({ signingKey: 'key' });
  for (const graceMs of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(() => receiver.close({ graceMs })).toThrow(ConfigurationError);
  }
});

/** As PostgreSQL in a burst: it answers one claim after the other, and a release drops one that waits. */
function createSlowQueue(claimMs: number): Store {
  const memory = createMemoryStore();
  const dropped = new Set<string>();
  let last = Promise.resolve();
  return {
    ...memory,
    commandTimeoutMs: 300,
    queuesClaims: true,
    claim: async (request) => {
      const pause = () => new Promise<void>((resolve) => setTimeout(resolve, claimMs));
      last = last.then(() => (dropped.has(request.token) ? undefined : pause()));
      await last;
      if (dropped.has(request.token)) throw new Error('it was given up');
      return memory.claim(request);
    },
    release: (request) => {
      dropped.add(request.token);
      return memory.release(request);
    },
  };
}

test('out of grace, the claims of a burst that still wait are given up', async () => {
  const store = createSlowQueue(50);
  const receiver = createReceiver({ signingKey: KEY, store, deadlineMs: 20_000 });
  receiver.observe(() => {}).on('transfer.*', () => {});
  const answers = Array.from({ length: 200 }, () => receiver.receive(deliveryOf(eventAt(Date.now()))));
  await Promise.race(answers);
  const startedAt = performance.now();
  await receiver.close({ graceMs: 0 });
  // All of them would take ten seconds.
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
});
