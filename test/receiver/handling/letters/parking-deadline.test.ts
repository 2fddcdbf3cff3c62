import {
  createMemoryStore,
  type DeadLetters,
  type HandlerContext,
  PermanentError,
  type Store,
} from 'posthorn';
import { beforeEach, describe, expect, test } from 'vitest';
import { deliveryOf } from '../../../support/delivery-of.ts';
import { fakeTime, flowingTime, passUntil } from '../../../support/fake-time.ts';
import { Gate, shutGate } from '../../../support/gate.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import { forwardedClock } from '../../../support/monotonic-clock.ts';
import { accepted, eventAt, openDirectly, refused } from '../../../support/open-endpoint.ts';
import { MINUTE_MS, StepClock, stepClocked } from '../../../support/step-clock.ts';

describe('a deadline that falls into the recording of a failure', () => {
  beforeEach(flowingTime);

  interface Failing {
    readonly deadlineMs: number;
    readonly deadLetters: DeadLetters;
    readonly handle: (event: unknown, context: HandlerContext) => unknown;
  }

  /**
   * An endpoint that has failed an event `earlierAttempts` times; the next release is held until the gate is
   * opened.
   */
  async function openFailing({ handle, ...options }: Failing, earlierAttempts: number) {
    const clock = new StepClock();
    const gate = new Gate();
    const memory = createMemoryStore({ now: clock.now });
    const store: Store = { ...memory, release: (request) => gate.pass().then(() => memory.release(request)) };
    const endpoint = openDirectly({ now: clock.now, store, ...options }, (receiver) =>
      receiver.on('transfer.*', handle),
    );
    const event = eventAt(clock.startedAt);
    for (let count = 0; count < earlierAttempts; count += 1) {
      expect(await endpoint.send(event)).toEqual(refused(500, 'handler_failed'));
      clock.step(MINUTE_MS);
    }
    gate.shut();
    return { ...endpoint, event, gate };
  }

  async function expectParked({ event, gate, reports, send }: Awaited<ReturnType<typeof openFailing>>) {
    expect(await send(event)).toEqual(accepted('parked', event.id));
    const answered = reports.all.at(-1);
    expect(answered).toMatchObject({ outcome: 'parked', status: 200, late: false, endpointAtRisk: false });
    gate.open();
    expect(await reports.first(({ late }) => late)).toMatchObject({
      outcome: 'parked',
      code: answered?.code,
    });
    return answered;
  }

  test('of an attempt that is final by count: parked, once the letter is stored', async () => {
    const deadLetters = createMapDeadLetters();
    const handle = () => Promise.reject(new Error('poison'));
    const failing = await openFailing({ deadlineMs: 600, deadLetters, handle }, 3);
    const answered = await expectParked(failing);
    expect(answered).toMatchObject({ code: 'handler_failed', attempt: 4, final: true });
    expect(await deadLetters.get(failing.event.id)).toMatchObject({ reason: 'handler_failed', attempts: 4 });
  });

  test('of such an attempt whose letter could be stored only after its handlers: parked', async () => {
    const map = createMapDeadLetters();
    let puts = 0;
    const put: DeadLetters['put'] = async (letter) => {
      puts += 1;
      if (puts === 1) throw new Error('ENOSPC');
      await map.put(letter);
    };
    const handle = () => Promise.reject(new Error('poison'));
    const deadLetters = { ...map, put };
    const failing = await openFailing({ deadlineMs: 600, deadLetters, handle }, 3);
    expect(await expectParked(failing)).toMatchObject({ code: 'handler_failed', attempt: 4 });
    expect(await map.get(failing.event.id)).toMatchObject({ reason: 'handler_failed' });
  });

  test('of an attempt that failed for good: parked', async () => {
    const deadLetters = createMapDeadLetters();
    const handle = () => Promise.reject(new PermanentError('never'));
    const failing = await openFailing({ deadlineMs: 600, deadLetters, handle }, 0);
    const answered = await expectParked(failing);
    expect(answered).toMatchObject({ code: 'handler_failed_permanently', attempt: 1, final: false });
    expect(await deadLetters.get(failing.event.id)).toMatchObject({ reason: 'handler_failed_permanently' });
  });

  test('while the lease of an attempt that is final by count is being confirmed: parked', async () => {
    const memory = createMemoryStore();
    const confirming = shutGate();
    const store: Store = {
      ...memory,
      commandTimeoutMs: 5_000,
      claim: async (request) => ({ ...(await memory.claim(request)), attempt: 4, spacedAttempts: 4 }),
      renew: (request) => confirming.pass().then(() => memory.renew(request)),
    };
    const forward = forwardedClock();
    const map = createMapDeadLetters();
    const put: DeadLetters['put'] = async (letter) => {
      await map.put(letter);
      forward(600);
    };
    const { reports, send } = openDirectly(
      { store, leaseMs: 1_000, deadlineMs: 2_000, deadLetters: { ...map, put } },
      (receiver) => receiver.on('transfer.*', () => {}),
    );
    const event = eventAt(Date.now());
    expect(await send(event)).toEqual(accepted('parked', event.id));
    expect(reports.all.at(-1)).toMatchObject({ code: 'store_unavailable', endpointAtRisk: false });
    confirming.open();
    await reports.first(({ late }) => late);
    expect(await map.get(event.id)).toBeUndefined();
  });

  test('while the letter of a last attempt is being brought up to date: parked', async () => {
    const map = createMapDeadLetters();
    const putting = new Gate();
    const deadLetters: DeadLetters = { ...map, put: (letter) => putting.pass().then(() => map.put(letter)) };
    // The handler ends so near to the deadline that the time limit of the letter, a quarter of it, lies
    // behind.
    const forward = forwardedClock();
    const handle = async (_event: unknown, { attempt }: HandlerContext) => {
      if (attempt === 4) {
        putting.shut();
        forward(21_000);
      }
      throw new Error('poison');
    };
    const failing = await openFailing({ deadlineMs: 24_000, deadLetters, handle }, 3);
    const { event, gate, send } = failing;
    expect(await send(event)).toEqual(accepted('parked', event.id));
    expect(putting.held.all).toHaveLength(1);
    expect(await map.get(event.id)).toMatchObject({ reason: 'run_abandoned' });
    putting.open();
    gate.open();
    await failing.reports.first(({ late }) => late);
    expect(await map.get(event.id)).toMatchObject({ reason: 'handler_failed' });
  });
});

test('a concurrent duplicate of a last attempt by count is parked with it at the deadline', async () => {
  const { clock, deadLetters } = stepClocked();
  const held = new HeldHandler();
  const { receiver } = await openDirectly({ now: clock.now, deadLetters }, (one) =>
    one.on('transfer.*', held.handle),
  );
  const delivery = deliveryOf(eventAt(clock.startedAt));
  for (let attempt = 1; attempt < 4; attempt += 1) {
    const failed = receiver.receive(delivery);
    (await held.calls.nth(attempt)).fail(new Error('locked'));
    expect(await failed).toMatchObject({ status: 500 });
    clock.step(MINUTE_MS);
  }
  const pass = fakeTime();
  const last = [receiver.receive(delivery), receiver.receive(delivery)];
  for (const { status, body } of await passUntil(pass, Promise.all(last)))
    expect([status, JSON.parse(body).outcome]).toEqual([200, 'parked']);
  (await held.calls.nth(4)).succeed();
});

test('a concurrent duplicate that is final by age is answered before its deadline, though its letter takes most of its time', async () => {
  const { clock, deadLetters: map } = stepClocked();
  const held = new HeldHandler();
  const deadlineMs = 3_000;
  const pause = () => new Promise((resolve) => setTimeout(resolve, 500));
  const deadLetters: DeadLetters = { ...map, put: (letter) => pause().then(() => map.put(letter)) };
  const { reports, receiver } = await openDirectly({ now: clock.now, deadLetters, deadlineMs }, (receiver) =>
    receiver.on('transfer.*', held.handle),
  );
  const pass = fakeTime();
  const event = eventAt(clock.startedAt);
  const send = async () => {
    const { status, body } = await receiver.receive(deliveryOf(event));
    const { outcome, code } = JSON.parse(body);
    return [status, outcome ?? code];
  };
  clock.moveTo(13 * MINUTE_MS);
  const first = send();
  const call = await held.calls.nth(1);
  clock.moveTo(15 * MINUTE_MS);
  const second = send();
  await pass(deadlineMs);
  expect(await second).toEqual([200, 'parked']);
  const { durationMs } = await reports.first(({ outcome }) => outcome === 'parked');
  expect(durationMs).toBeLessThan(deadlineMs);
  // It waits for the run all the same.
  expect(durationMs).toBeGreaterThan(deadlineMs / 2);
  // The letter is stored beside its run by then, and speaks for it too.
  expect(await first).toEqual([200, 'parked']);
  call.succeed();
  await reports.first(({ late }) => late);
  expect(await map.get(event.id)).toBeUndefined();
});
