import { createMemoryStore, PermanentError, type Store } from 'posthorn';
import { beforeEach, describe, expect, test } from 'vitest';
import { aborted } from '../../../support/aborted.ts';
import { flowingTime } from '../../../support/fake-time.ts';
import { Gate, shutGate } from '../../../support/gate.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { letterOf } from '../../../support/letter-of.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import {
  accepted,
  type EndpointOptions,
  eventAt,
  on,
  openEndpoint,
  refused,
} from '../../../support/open-endpoint.ts';
import { MINUTE_MS, stepClocked } from '../../../support/step-clock.ts';

const MAX_RUN_MS = 200_000;

beforeEach(flowingTime);

/** An endpoint with dead letters, whose handler ends when told. */
async function openHeld(options: EndpointOptions = {}) {
  const deadLetters = createMapDeadLetters();
  const held = new HeldHandler();
  const endpoint = await openEndpoint({ deadLetters, ...options }, on('transfer.*', held.handle));
  return { ...endpoint, deadLetters, held };
}

describe('a letter that was parked beside a run is no sign of a crash', () => {
  test('so the retry after the run has failed runs the handlers', async () => {
    const { clock, store, deadLetters } = stepClocked();
    const held = new HeldHandler();
    const shared = { now: clock.now, store, maxRunMs: MAX_RUN_MS, leaseMs: 5 * MINUTE_MS, deadLetters };
    const a = await openEndpoint(shared, on('transfer.*', held.handle));
    const b = await openEndpoint({ ...shared, deadlineMs: 600 }, on('transfer.*', held.handle));
    const event = eventAt(clock.startedAt);
    clock.moveTo(13 * MINUTE_MS);
    const running = a.receive(event);
    const call = await held.calls.nth(1);
    clock.moveTo(14 * MINUTE_MS);
    expect(await b.receive(event)).toEqual(accepted('parked', event.id));
    expect(await deadLetters.get(event.id)).toMatchObject({
      reason: 'event_running',
      runningUntil: clock.now() + MAX_RUN_MS,
    });
    call.fail(new Error('poison'));
    expect(await running).toEqual(refused(500, 'handler_failed'));
    clock.moveTo(15 * MINUTE_MS);
    const retried = a.receive(event);
    const second = await held.calls.nth(2);
    expect(second.context.final).toBe(true);
    second.succeed();
    expect(await retried).toEqual(accepted('processed', event.id));
    expect(await deadLetters.get(event.id)).toBeUndefined();
    expect(a.reports.all).toMatchObject([{ outcome: 'failed' }, { outcome: 'processed', final: true }]);
  });

  test('so a run that gets the id just after its delivery was parked runs the handlers', async () => {
    const memory = createMemoryStore();
    const polling = new Gate();
    const asked: string[] = [];
    const store: Store = {
      ...memory,
      claim: async (request) => {
        // Only the run's own questions after the first, and not the one by which the id is read again.
        asked.push(request.token);
        if (asked.length > 1 && asked[0] === request.token) await polling.pass();
        return memory.claim(request);
      },
    };
    const { deadLetters, held, reports, receive } = await openHeld({ store, deadlineMs: 1_600 });
    const event = eventAt(Date.now() - 15 * MINUTE_MS);
    const other = { id: event.id, token: 'other', retentionMs: MAX_RUN_MS };
    await memory.claim({ ...other, leaseMs: MAX_RUN_MS });
    polling.shut();
    const answer = receive(event);
    await polling.held.nth(1);
    expect(await answer).toEqual(accepted('parked', event.id));
    expect(await letterOf(deadLetters, event.id)).toMatchObject({ reason: 'event_running' });
    await memory.release({ ...other, handled: [] });
    polling.open();
    (await held.calls.nth(1)).succeed();
    expect(await reports.first(({ late }) => late)).toMatchObject({ outcome: 'processed', final: true });
    expect(await deadLetters.get(event.id)).toBeUndefined();
    expect(await receive(event)).toEqual(accepted('duplicate', event.id));
  });
});

describe('the letter of an event that is completed after all is taken out', () => {
  test('by a run that went on after maxRunMs, though a later attempt has parked the event', async () => {
    const { deadLetters, held, reports, receive } = await openHeld({ maxRunMs: 300 });
    const event = eventAt(Date.now());
    expect(await receive(event)).toEqual(refused(503, 'run_timeout'));
    const second = receive(event);
    (await held.calls.nth(2)).fail(new PermanentError('never'));
    expect(await second).toEqual(accepted('parked', event.id));
    expect(await deadLetters.get(event.id)).toMatchObject({ reason: 'handler_failed_permanently' });
    (await held.calls.nth(1)).succeed();
    await expect.poll(() => deadLetters.get(event.id)).toBeUndefined();
    expect(await receive(event)).toEqual(accepted('duplicate', event.id));
    expect(reports.all.map(({ outcome }) => outcome)).toEqual(['failed', 'parked', 'duplicate']);
  });

  test('by a run whose lease had run out, so that another process parked the event unrun', async () => {
    const { clock, store, deadLetters } = stepClocked();
    const held = new HeldHandler();
    const shared = { now: clock.now, store, deadLetters };
    const a = await openEndpoint(shared, on('transfer.*', held.handle));
    const b = await openEndpoint(shared, on('transfer.*', held.handle));
    const event = eventAt(clock.startedAt);
    clock.moveTo(13 * MINUTE_MS);
    const running = a.receive(event);
    const call = await held.calls.nth(1);
    // The clock of the store runs past the lease before the first renewal is due.
    clock.moveTo(15 * MINUTE_MS);
    expect(await b.receive(event)).toEqual(accepted('parked', event.id));
    expect(await deadLetters.get(event.id)).toMatchObject({ reason: 'run_abandoned' });
    call.succeed();
    expect(await running).toEqual(accepted('processed', event.id));
    expect(await deadLetters.get(event.id)).toBeUndefined();
    expect(held.calls.all).toHaveLength(1);
  });

  test('by a run whose lease was lost to another process, in which the event failed for good', async () => {
    const { clock, store: memory } = stepClocked();
    const renewing = shutGate();
    const storeOfA: Store = {
      ...memory,
      renew: (request) => renewing.pass().then(() => memory.renew(request)),
    };
    const deadLetters = createMapDeadLetters();
    const held = new HeldHandler();
    const shared = { now: clock.now, deadLetters, leaseMs: 300 };
    const a = await openEndpoint({ ...shared, store: storeOfA }, on('transfer.*', held.handle));
    const b = await openEndpoint({ ...shared, store: memory }, on('transfer.*', held.handle));
    const event = eventAt(clock.startedAt);
    const running = a.receive(event);
    const call = await held.calls.nth(1);
    clock.step(301);
    const taken = b.receive(event);
    (await held.calls.nth(2)).fail(new PermanentError('never'));
    expect(await taken).toEqual(accepted('parked', event.id));
    renewing.open();
    expect(await aborted(call.context.signal)).toMatchObject({ code: 'lease_lost' });
    call.succeed();
    expect(await running).toEqual(accepted('processed', event.id));
    expect(await deadLetters.get(event.id)).toBeUndefined();
    expect(await b.receive(event)).toEqual(accepted('duplicate', event.id));
  });

  test('by a run that learns that another process has completed the event', async () => {
    const store = createMemoryStore();
    const { deadLetters, held, reports, receive } = await openHeld({ store, leaseMs: 300 });
    const event = eventAt(Date.now() - 15 * MINUTE_MS);
    const answer = receive(event);
    const call = await held.calls.nth(1);
    expect(await deadLetters.get(event.id)).toMatchObject({ reason: 'run_abandoned' });
    await store.complete({ id: event.id, token: 'elsewhere', retentionMs: MAX_RUN_MS });
    expect(await answer).toEqual(accepted('duplicate', event.id));
    expect(call.context.signal.reason).toMatchObject({ code: 'completed_elsewhere' });
    expect(await deadLetters.get(event.id)).toBeUndefined();
    expect(reports.all).toMatchObject([{ outcome: 'duplicate', late: false, endpointAtRisk: false }]);
  });

  test('by a later delivery, where an earlier one failed for good', async () => {
    const { deadLetters, held, reports, receive } = await openHeld();
    const event = eventAt(Date.now());
    const first = receive(event);
    (await held.calls.nth(1)).fail(new PermanentError('never'));
    expect(await first).toEqual(accepted('parked', event.id));
    expect(await deadLetters.get(event.id)).toMatchObject({ reason: 'handler_failed_permanently' });
    const second = receive(event);
    (await held.calls.nth(2)).succeed();
    expect(await second).toEqual(accepted('processed', event.id));
    expect(await deadLetters.get(event.id)).toBeUndefined();
    expect(reports.all).toMatchObject([{ attempt: 1 }, { attempt: 2, final: false }]);
  });
});
