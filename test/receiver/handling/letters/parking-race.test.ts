import { setImmediate } from 'node:timers/promises';
import type { Store } from 'posthorn';
import { beforeEach, describe, expect, test } from 'vitest';
import { deliveryOf } from '../../../support/delivery-of.ts';
import { flowingTime } from '../../../support/fake-time.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { letterOf } from '../../../support/letter-of.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import {
  accepted,
  type EndpointOptions,
  eventAt,
  on,
  openDirectly,
  refused,
} from '../../../support/open-endpoint.ts';
import { Seen } from '../../../support/seen.ts';
import { MINUTE_MS, stepClocked } from '../../../support/step-clock.ts';
import { slowLetters } from './slow-letters.ts';

beforeEach(flowingTime);

const MAX_RUN_MS = 200_000;

/**
 * An event whose first delivery is running since a moment at which it was not final; now the last retry is
 * due.
 */
describe('a concurrent duplicate that is final parks beside the run of an earlier delivery in its process', () => {
  async function openRunning(options: EndpointOptions = {}) {
    const { clock, deadLetters } = stepClocked();
    const held = new HeldHandler();
    const settings = {
      now: clock.now,
      deadlineMs: 300,
      maxRunMs: MAX_RUN_MS,
      deadLetters,
      ...options,
    };
    const endpoint = openDirectly(settings, on('transfer.*', held.handle));
    const event = eventAt(clock.startedAt);
    clock.moveTo(13 * MINUTE_MS);
    const first = endpoint.send(event);
    const call = await held.calls.nth(1);
    clock.moveTo(15 * MINUTE_MS);
    return { ...endpoint, clock, deadLetters, event, held, first, call };
  }

  test('and the run succeeds: the letter is taken out', async () => {
    const { call, clock, deadLetters, event, first, held, reports, send } = await openRunning();
    expect(await send(event)).toEqual(accepted('parked', event.id));
    // By then the letter may be stored beside its run.
    expect([refused(503, 'deadline_reached'), accepted('parked', event.id)]).toContainEqual(await first);
    expect(await deadLetters.get(event.id)).toMatchObject({
      reason: 'event_running',
      attempts: 1,
      runningUntil: clock.now() + MAX_RUN_MS,
    });
    call.succeed();
    expect(await reports.first(({ late }) => late)).toMatchObject({ outcome: 'processed', attempt: 1 });
    expect(await deadLetters.get(event.id)).toBeUndefined();
    expect(await send(event)).toEqual(accepted('duplicate', event.id));
    expect(held.calls.all).toHaveLength(1);
    expect(reports.all.filter(({ late }) => late)).toHaveLength(1);
  });

  test('and the run of the earlier one outlasts its deadline: the letter speaks for that one too', async () => {
    const { call, event, first, receiver, reports } = await openRunning({ deadlineMs: 2_500 });
    const { status } = await receiver.receive({ ...deliveryOf(event), timeLimitMs: 300 });
    expect(status).toBe(200);
    expect(await first).toEqual(accepted('parked', event.id));
    call.succeed();
    await reports.first(({ late }) => late);
  });

  test('and the run fails: the letter stays, and can be replayed', async () => {
    const { call, deadLetters, event, first, held, receiver, reports, send } = await openRunning();
    expect(await send(event)).toEqual(accepted('parked', event.id));
    // By then the letter may be stored beside its run.
    expect([refused(503, 'deadline_reached'), accepted('parked', event.id)]).toContainEqual(await first);
    call.fail(new Error('poison'));
    await reports.first(({ late }) => late);
    const letter = await deadLetters.get(event.id);
    expect(letter).toMatchObject({ reason: 'handler_failed' });
    expect(letter?.runningUntil).toBeUndefined();
    if (letter === undefined) throw new Error('no letter');
    const replayed = receiver.replay(letter);
    (await held.calls.nth(2)).succeed();
    expect(await replayed).toMatchObject({ outcome: 'processed' });
  });

  test('and the run fails before the deadline: the concurrent duplicate parks, the first delivery has failed', async () => {
    const { call, deadLetters, event, first, receiver, reports } = await openRunning({
      deadlineMs: 5_000,
    });
    const duplicate = receiver.receive(deliveryOf(event));
    // Without a socket nothing but promises lies between the delivery and its joining the run.
    await setImmediate();
    call.fail(new Error('poison'));
    expect(await first).toEqual(refused(500, 'handler_failed'));
    expect(await duplicate).toMatchObject({
      status: 200,
      body: JSON.stringify({ outcome: 'parked', id: event.id }),
    });
    expect(reports.all.map(({ endpointAtRisk }) => endpointAtRisk)).toEqual([false, false]);
    expect(await deadLetters.get(event.id)).toMatchObject({ reason: 'handler_failed' });
  });

  test('and its letter cannot be stored: it is answered busy, and the endpoint is at risk', async () => {
    const { call, event, first, reports, send } = await openRunning({
      deadLetters: { ...createMapDeadLetters(), put: () => Promise.reject(new Error('ENOSPC')) },
    });
    expect(await send(event)).toEqual(refused(503, 'event_running'));
    expect(await first).toEqual(refused(503, 'deadline_reached'));
    expect(await reports.first(({ outcome }) => outcome === 'busy')).toMatchObject({
      endpointAtRisk: true,
      warnings: [expect.stringMatching(/^dead_letter_not_stored: /)],
    });
    call.succeed();
    await reports.first(({ late }) => late);
  });
});

describe('a concurrent duplicate that is final parks beside a run in another process', () => {
  /** Two receivers with one store, as of two processes; the first one is running the event. */
  async function openTwoProcesses(deadLetters = createMapDeadLetters(), deadLettersOfB = deadLetters) {
    const { clock, store } = stepClocked();
    const looks = new Seen<string>();
    const storeOfB: Store = {
      ...store,
      peek: async (request) => {
        const { state } = (await store.peek?.(request)) ?? expect.fail('no peek');
        looks.add(state);
        return { state };
      },
    };
    const held = new HeldHandler();
    // The lease outlasts the step of the clock.
    const shared = { now: clock.now, maxRunMs: MAX_RUN_MS, leaseMs: 5 * MINUTE_MS };
    const a = await openDirectly({ ...shared, store, deadLetters }, on('transfer.*', held.handle));
    const b = await openDirectly(
      { ...shared, store: storeOfB, deadLetters: deadLettersOfB, deadlineMs: 1_000 },
      on('transfer.*', held.handle),
    );
    const event = eventAt(clock.startedAt);
    clock.moveTo(13 * MINUTE_MS);
    const running = a.send(event);
    const call = await held.calls.nth(1);
    clock.moveTo(15 * MINUTE_MS);
    return { a, b, call, clock, deadLetters, event, held, looks, running };
  }

  test('that completes meanwhile: the letter is taken out when the id is read again', async () => {
    const stored = createMapDeadLetters();
    const { slowDeadLetters, putting } = slowLetters(stored);
    const { b, call, deadLetters, event, held, running } = await openTwoProcesses(stored, slowDeadLetters);
    const duplicate = b.send(event);
    const goOn = await putting.nth(1);
    call.succeed();
    expect(await running).toEqual(accepted('processed', event.id));
    goOn();
    expect(await duplicate).toEqual(accepted('parked', event.id));
    await expect.poll(() => deadLetters.get(event.id)).toBeUndefined();
    expect(held.calls.all).toHaveLength(1);
  });

  test('that completes later: it takes the letter out', async () => {
    const { b, call, clock, deadLetters, event, held, looks, running } = await openTwoProcesses();
    expect(await b.send(event)).toEqual(accepted('parked', event.id));
    expect(await looks.nth(1)).toBe('running');
    const letter = await letterOf(deadLetters, event.id);
    expect(letter).toMatchObject({ reason: 'event_running', runningUntil: clock.now() + MAX_RUN_MS });
    expect(await b.receiver.replay(letter)).toMatchObject({ outcome: 'busy' });
    call.succeed();
    expect(await running).toEqual(accepted('processed', event.id));
    expect(await deadLetters.get(event.id)).toBeUndefined();
    clock.step(MAX_RUN_MS);
    expect(await b.receiver.replay(letter)).toMatchObject({ outcome: 'duplicate' });
    expect(held.calls.all).toHaveLength(1);
  });

  test('that fails later: a replay runs the event', async () => {
    const { b, call, clock, deadLetters, event, held, looks, running } = await openTwoProcesses();
    expect(await b.send(event)).toEqual(accepted('parked', event.id));
    expect(await looks.nth(1)).toBe('running');
    call.fail(new Error('poison'));
    expect(await running).toEqual(refused(500, 'handler_failed'));
    clock.step(MAX_RUN_MS);
    const letter = await letterOf(deadLetters, event.id);
    const replayed = b.receiver.replay(letter);
    (await held.calls.nth(2)).succeed();
    expect(await replayed).toMatchObject({ outcome: 'processed' });
    expect(await deadLetters.get(event.id)).toBeUndefined();
  });
});
