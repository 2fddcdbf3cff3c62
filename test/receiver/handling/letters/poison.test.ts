import { type DeadLetters, PermanentError } from 'posthorn';
import { beforeEach, describe, expect, test } from 'vitest';
import { flowingTime } from '../../../support/fake-time.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import {
  accepted,
  type DirectEndpoint,
  type EndpointOptions,
  eventAt,
  openDirectly,
  refused,
} from '../../../support/open-endpoint.ts';
import { readAll } from '../../../support/read-all.ts';
import { MINUTE_MS, StepClock, stepClocked } from '../../../support/step-clock.ts';

beforeEach(flowingTime);

const MAX_RUN_MS = 60_000;
const SHORT = { deadlineMs: 200 };

/** An endpoint whose handler ends when told, at the moment of the last retry. */
async function openHeld(options: EndpointOptions = {}) {
  const clock = new StepClock();
  const event = eventAt(clock.startedAt);
  clock.moveTo(15 * MINUTE_MS);
  const held = new HeldHandler();
  const settings = { now: clock.now, maxRunMs: MAX_RUN_MS, ...options };
  const endpoint = openDirectly(settings, (receiver) => receiver.on('transfer.*', held.handle));
  return { ...endpoint, clock, event, held };
}

/**
 * Lets an event pass that no handler wants, and returns what was reported of the first one: all has come by
 * then.
 */
async function reportsOf({ send, reports }: DirectEndpoint, id: string) {
  const other = { ...eventAt(Date.parse('2025-03-01T12:15:00Z')), type: 'dispute.won' };
  expect(await send(other)).toEqual(accepted('ignored', other.id));
  return reports.all.filter(({ event }) => event?.id === id);
}

describe('handlers that hang past the deadline of a last attempt', () => {
  test('are parked at the deadline; their late failure is written into the letter', async () => {
    const deadLetters = createMapDeadLetters();
    const endpoint = await openHeld({ ...SHORT, deadLetters });
    const { clock, event, held, reports, send } = endpoint;
    expect(await send(event)).toEqual(accepted('parked', event.id));
    expect(await deadLetters.get(event.id)).toMatchObject({
      attempts: 1,
      handled: [],
      runningUntil: clock.now() + MAX_RUN_MS,
    });
    const [call] = held.calls.all;
    expect(call?.context.signal.aborted).toBe(false);
    call?.fail(new Error('too late'));
    await reports.first(({ late }) => late);
    const letter = await deadLetters.get(event.id);
    expect(letter).toMatchObject({ reason: 'handler_failed', attempts: 1 });
    expect(letter?.message).toContain('too late');
    expect(letter?.runningUntil).toBeUndefined();
    expect(await reportsOf(endpoint, event.id)).toMatchObject([
      { outcome: 'parked', code: 'deadline_reached', late: false, final: true, endpointAtRisk: false },
      { outcome: 'parked', code: 'handler_failed', late: true, final: true, endpointAtRisk: false },
    ]);
  });

  test('and succeed late: the letter is taken out, and the event is done', async () => {
    const deadLetters = createMapDeadLetters();
    const endpoint = await openHeld({ ...SHORT, deadLetters });
    const { event, held, reports, send } = endpoint;
    expect(await send(event)).toEqual(accepted('parked', event.id));
    held.calls.all[0]?.succeed();
    await reports.first(({ late }) => late);
    expect(await readAll(deadLetters.list())).toEqual([]);
    expect(await send(event)).toEqual(accepted('duplicate', event.id));
    expect(await reportsOf(endpoint, event.id)).toMatchObject([
      { outcome: 'parked', late: false },
      { outcome: 'processed', late: true, status: 200 },
      { outcome: 'duplicate', late: false },
    ]);
    expect(held.calls.all).toHaveLength(1);
  });

  test('are parked there too if the attempt is the last by count, of an event that is young', async () => {
    const deadLetters = createMapDeadLetters();
    const { clock, event, held, reports, send } = await openHeld({ deadLetters, deadlineMs: 1_000 });
    const young = { ...event, created_at: new Date(clock.now()).toISOString() };
    for (let count = 1; count <= 3; count += 1) {
      const answer = send(young);
      (await held.calls.nth(count)).fail(new Error('not yet'));
      expect(await answer).toEqual(refused(500, 'handler_failed'));
      clock.step(MINUTE_MS);
    }
    expect(await send(young)).toEqual(accepted('parked', young.id));
    expect(reports.all.at(-1)).toMatchObject({ outcome: 'parked', attempt: 4, final: true });
    held.calls.all[3]?.succeed();
    await reports.first(({ late }) => late);
    expect(await deadLetters.get(young.id)).toBeUndefined();
  });

  test('without dead letters are answered 503, and the endpoint is at risk', async () => {
    const { event, held, reports, send } = await openHeld(SHORT);
    expect(await send(event)).toEqual(refused(503, 'deadline_reached'));
    expect(reports.all).toMatchObject([{ outcome: 'failed', final: true, endpointAtRisk: true }]);
    held.calls.all[0]?.succeed();
    expect(await reports.first(({ late }) => late)).toMatchObject({
      outcome: 'processed',
      endpointAtRisk: false,
    });
  });
});

test('handlers that hang past the deadline of an earlier attempt are not parked when they fail', async () => {
  const deadLetters = createMapDeadLetters();
  const { clock, event, held, reports, send } = await openHeld({ ...SHORT, deadLetters });
  clock.moveTo(0);
  expect(await send(event)).toEqual(refused(503, 'deadline_reached'));
  held.calls.all[0]?.fail(new Error('too late'));
  expect(await reports.first(({ late }) => late)).toMatchObject({
    outcome: 'failed',
    status: 500,
    final: false,
    endpointAtRisk: false,
  });
  expect(await readAll(deadLetters.list())).toEqual([]);
});

describe('a PermanentError', () => {
  test('parks the event at the first attempt', async () => {
    const deadLetters = createMapDeadLetters();
    const { clock, event, held, reports, send } = await openHeld({ deadLetters });
    clock.moveTo(0);
    const answer = send(event);
    (await held.calls.nth(1)).fail(new PermanentError('no such merchant'));
    expect(await answer).toEqual(accepted('parked', event.id));
    expect(reports.all).toMatchObject([
      { outcome: 'parked', code: 'handler_failed_permanently', attempt: 1, final: false },
    ]);
    const letter = await deadLetters.get(event.id);
    expect(letter).toMatchObject({ reason: 'handler_failed_permanently', attempts: 1 });
    expect(letter?.message).toContain('no such merchant');
    expect(letter?.runningUntil).toBeUndefined();
  });

  test('thrown after the deadline parks the event too', async () => {
    const deadLetters = createMapDeadLetters();
    const { clock, event, held, reports, send } = await openHeld({ ...SHORT, deadLetters });
    clock.moveTo(0);
    expect(await send(event)).toEqual(refused(503, 'deadline_reached'));
    held.calls.all[0]?.fail(new PermanentError('no such merchant'));
    expect(await reports.first(({ late }) => late)).toMatchObject({ outcome: 'parked' });
    expect(await deadLetters.get(event.id)).toMatchObject({ reason: 'handler_failed_permanently' });
  });

  test('without dead letters is a failure', async () => {
    const { clock, event, held, reports, send } = await openHeld();
    clock.moveTo(0);
    const answer = send(event);
    (await held.calls.nth(1)).fail(new PermanentError('no such merchant'));
    expect(await answer).toEqual(refused(500, 'handler_failed_permanently'));
    expect(reports.all).toMatchObject([{ outcome: 'failed', final: false, endpointAtRisk: false }]);
  });

  test('counts beside other failures and successes of the same event', async () => {
    const deadLetters = createMapDeadLetters();
    const event = eventAt(Date.now());
    const { send } = await openDirectly({ deadLetters }, (receiver) =>
      receiver
        .on('transfer.*', () => Promise.reject(new Error('for now')), { name: 'flaky' })
        .on('transfer.*', () => Promise.reject(new PermanentError('for ever')), { name: 'poison' })
        .on('transfer.*', () => 'done', { name: 'book' }),
    );
    expect(await send(event)).toEqual(accepted('parked', event.id));
    expect(await deadLetters.get(event.id)).toMatchObject({
      reason: 'handler_failed_permanently',
      handled: ['book'],
    });
  });
});

describe('an event whose earlier attempt ended with its process', () => {
  /** A store in which the event has been claimed by a process that is no more. */
  async function openAbandoned(options: EndpointOptions, minutesLater: number) {
    const { clock, store } = stepClocked();
    const event = eventAt(clock.startedAt);
    await store.claim({ id: event.id, token: 'dead', leaseMs: 20_000, retentionMs: 86_400_000 });
    clock.moveTo(minutesLater * MINUTE_MS);
    const runs: number[] = [];
    const endpoint = openDirectly({ now: clock.now, store, ...options }, (receiver) =>
      receiver.on('transfer.*', (_event, { attempt }) => runs.push(attempt)),
    );
    return { ...endpoint, event, runs };
  }

  test('is parked at the last attempt without being run; a replay runs it', async () => {
    const deadLetters = createMapDeadLetters();
    const { event, receiver, reports, runs, send } = await openAbandoned({ deadLetters }, 15);
    expect(await send(event)).toEqual(accepted('parked', event.id));
    expect(runs).toEqual([]);
    expect(reports.all).toMatchObject([
      { outcome: 'parked', code: 'run_abandoned', handlers: [], endpointAtRisk: false },
    ]);
    const letter = await deadLetters.get(event.id);
    expect(letter?.reason).toBe('run_abandoned');
    expect(letter?.runningUntil).toBeUndefined();
    if (letter === undefined) throw new Error('no letter');
    expect(await receiver.replay(letter)).toMatchObject({ outcome: 'processed' });
    expect(runs).toHaveLength(1);
  });

  /** A receiver without the store of the event, and the ids that its handler has run. */
  function openForgetful(deadLetters: DeadLetters) {
    const clock = new StepClock();
    clock.moveTo(16 * MINUTE_MS);
    const runs: string[] = [];
    const endpoint = openDirectly({ now: clock.now, deadLetters }, (receiver) =>
      receiver.on('transfer.*', ({ id }) => runs.push(id)),
    );
    return { ...endpoint, runs };
  }

  test('and was parked unrun is run when it comes again to a store that has forgotten it', async () => {
    const deadLetters = createMapDeadLetters();
    const first = await openAbandoned({ deadLetters }, 15);
    expect(await first.send(first.event)).toEqual(accepted('parked', first.event.id));
    const { runs, send } = openForgetful(deadLetters);
    expect(await send(first.event)).toEqual(accepted('processed', first.event.id));
    expect(runs).toEqual([first.event.id]);
    expect(await readAll(deadLetters.list())).toEqual([]);
  });

  test('while its letter said that it was running is parked by a store that has forgotten it', async () => {
    const deadLetters = createMapDeadLetters();
    const crashing = await openHeld({ deadLetters });
    void crashing.send(crashing.event).catch(() => {});
    await crashing.held.calls.nth(1);
    const { reports, runs, send } = openForgetful(deadLetters);
    expect(await send(crashing.event)).toEqual(accepted('parked', crashing.event.id));
    expect(runs).toEqual([]);
    expect(reports.all).toMatchObject([{ outcome: 'parked', code: 'run_abandoned' }]);
  });

  test('is run at an earlier attempt', async () => {
    const deadLetters = createMapDeadLetters();
    const { event, runs, send } = await openAbandoned({ deadLetters }, 1);
    expect(await send(event)).toEqual(accepted('processed', event.id));
    expect(runs).toEqual([2]);
  });

  test('is run at the last attempt without dead letters', async () => {
    const { event, runs, send } = await openAbandoned({}, 15);
    expect(await send(event)).toEqual(accepted('processed', event.id));
    expect(runs).toEqual([2]);
  });
});
