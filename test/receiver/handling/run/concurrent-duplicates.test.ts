import { setImmediate } from 'node:timers/promises';
import { createMemoryStore } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { fakeTime, passUntil } from '../../../support/fake-time.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { ampleDeadlines } from '../../../support/limits.ts';
import { accepted, type EndpointOptions, openEndpoint, refused } from '../../../support/open-endpoint.ts';

/** A receiver whose handler is held. Two that share a store stand for two processes. */
async function openHeld(options: EndpointOptions = {}, held = new HeldHandler()) {
  const settings = { ...ampleDeadlines, ...options };
  const endpoint = await openEndpoint(settings, (receiver) => receiver.on('*', held.handle));
  return { ...endpoint, held };
}

/** Whether a promise has settled once everything that is ready has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const settled = promise.catch(() => {}).then(() => true);
  for (let turn = 0; turn < 10; turn += 1) await setImmediate();
  return Promise.race([settled, false]);
}

test('a handler that writes into its event changes nothing of its retry', async () => {
  let runs = 0;
  const { reports, send } = await openEndpoint(ampleDeadlines, (receiver) =>
    receiver.on('transfer.created', (event) => {
      runs += 1;
      Reflect.set(event, 'id', 'another');
      throw new Error('fails');
    }),
  );
  const event = createEvent('transfer.created');
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    expect(await send(event)).toEqual(refused(500, 'handler_failed'));
    expect(runs).toBe(attempt);
    expect(reports.all.at(-1)).toMatchObject({ attempt });
  }
});

describe('concurrent duplicates in one process', () => {
  /** A run that is held, and a duplicate that waits for it. */
  async function openDuplicate() {
    const { held, receive } = await openHeld();
    const event = createEvent('transfer.created');
    const first = receive(event);
    const run = await held.calls.nth(1);
    const duplicate = receive(event);
    expect(await isSettled(duplicate)).toBe(false);
    return { held, receive, event, first, run, duplicate };
  }

  test('a concurrent duplicate waits for the first run, and is a duplicate once it has succeeded', async () => {
    const { held, event, first, run, duplicate } = await openDuplicate();
    run.succeed();
    expect(await first).toEqual(accepted('processed', event.id));
    expect(await duplicate).toEqual(accepted('duplicate', event.id));
    expect(held.calls.all).toHaveLength(1);
  });

  test('a concurrent duplicate of a run that fails is not answered 2xx, and the retry runs again', async () => {
    const { held, receive, event, first, run, duplicate } = await openDuplicate();
    run.fail(new Error('it failed'));
    expect(await first).toEqual(refused(500, 'handler_failed'));
    expect(await duplicate).toEqual(refused(500, 'handler_failed'));
    const retry = receive(event);
    (await held.calls.nth(2)).succeed();
    expect(await retry).toEqual(accepted('processed', event.id));
  });

  test('while the first run is past its deadline, a concurrent duplicate is busy; once it succeeds, a duplicate', async () => {
    const { held, receive, reports } = await openHeld();
    const pass = fakeTime();
    const event = createEvent('transfer.created');
    const first = receive(event);
    const run = await held.calls.nth(1);
    expect(await passUntil(pass, first)).toEqual(refused(503, 'deadline_reached'));
    expect(await passUntil(pass, receive(event))).toEqual(refused(503, 'event_running'));
    const joined = receive(event);
    run.succeed();
    expect(await passUntil(pass, joined)).toEqual(accepted('duplicate', event.id));
    expect(held.calls.all).toHaveLength(1);
    await reports.nth(4);
    expect(reports.all.filter(({ late }) => !late)).toMatchObject([
      { outcome: 'failed', attempt: 1, endpointAtRisk: false },
      { outcome: 'busy' },
      { outcome: 'duplicate' },
    ]);
    expect(reports.all.filter(({ late }) => late)).toMatchObject([{ outcome: 'processed', status: 200 }]);
  });

  test('fifty concurrent duplicates at once: one run, one processed, the others duplicates', async () => {
    const { held, reports, send } = await openHeld();
    const event = createEvent('transfer.created');
    const answers = Array.from({ length: 50 }, () => send(event));
    const run = await held.calls.nth(1);
    expect(await isSettled(Promise.race(answers))).toBe(false);
    run.succeed();
    const all = await Promise.all(answers);
    for (const { status } of all) expect(status).toBe(200);
    const outcomes = all.map(({ body }) => Reflect.get(Object(body), 'outcome'));
    expect(outcomes.filter((outcome) => outcome === 'processed')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'duplicate')).toHaveLength(49);
    expect(held.calls.all).toHaveLength(1);
    await reports.nth(50);
    expect(reports.all).toHaveLength(50);
  });
});

describe('concurrent duplicates in two processes that share a store', () => {
  /** Two processes with the same handler. */
  async function openBoth(leaseMs: number = ampleDeadlines.leaseMs) {
    const shared = { store: createMemoryStore(), leaseMs };
    const a = await openHeld(shared);
    const b = await openHeld({ ...shared, deadlineMs: 2_000 }, a.held);
    return { a, b, held: a.held, event: createEvent('transfer.created') };
  }

  test('the concurrent duplicate learns of the success by asking the store', async () => {
    const { a, b, held, event } = await openBoth();
    const first = a.receive(event);
    const run = await held.calls.nth(1);
    const duplicates = [b.receive(event), b.receive(event)];
    expect(await isSettled(Promise.race(duplicates))).toBe(false);
    run.succeed();
    expect(await first).toEqual(accepted('processed', event.id));
    for (const duplicate of duplicates) expect(await duplicate).toEqual(accepted('duplicate', event.id));
    expect(held.calls.all).toHaveLength(1);
  });

  test('the concurrent duplicate runs the handlers itself when the first run has failed', async () => {
    const { a, b, held, event } = await openBoth();
    const first = a.receive(event);
    const run = await held.calls.nth(1);
    const duplicate = b.receive(event);
    // It has found the event running.
    expect(await isSettled(duplicate)).toBe(false);
    run.fail(new Error('it failed'));
    expect(await first).toMatchObject({ status: 500 });
    (await held.calls.nth(2)).succeed();
    expect(await duplicate).toEqual(accepted('processed', event.id));
    expect(b.reports.all).toMatchObject([{ attempt: 2, outcome: 'processed' }]);
  });

  test('the concurrent duplicate takes over when the lease of a dead process ends', async () => {
    const store = createMemoryStore();
    const event = createEvent('transfer.created');
    await store.claim({ id: event.id, token: 'dead', leaseMs: 200, retentionMs: 60_000 });
    const { held, receive, reports } = await openHeld({ store });
    const answer = receive(event);
    (await held.calls.nth(1)).succeed();
    expect(await answer).toEqual(accepted('processed', event.id));
    expect(reports.all).toMatchObject([{ attempt: 2, final: false }]);
  });

  test('the concurrent duplicate is busy when the other process still runs at the deadline', async () => {
    const store = createMemoryStore();
    const event = createEvent('transfer.created');
    await store.claim({ id: event.id, token: 'other', leaseMs: 60_000, retentionMs: 60_000 });
    const { held, receive, reports } = await openHeld({ store });
    expect(await passUntil(fakeTime(), receive(event))).toEqual(refused(503, 'event_running'));
    expect(held.calls.all).toHaveLength(0);
    expect(reports.all[0]?.error?.message).toMatch(/; if it was killed, its claim ends in \d+ ms$/);
  });

  test('a long run keeps its lease', async () => {
    const { a, b, held, event } = await openBoth(600);
    const pass = fakeTime();
    const first = a.receive(event);
    const run = await held.calls.nth(1);
    expect(await passUntil(pass, b.receive(event))).toEqual(refused(503, 'event_running'));
    run.succeed();
    expect(await first).toEqual(accepted('processed', event.id));
    expect(held.calls.all).toHaveLength(1);
  });
});
