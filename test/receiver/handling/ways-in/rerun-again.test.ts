import { createMemoryStore, type Store } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { skipped } from '../../../../src/receiver/handling/handlers/named-handler.ts';
import { flowingTime } from '../../../support/fake-time.ts';
import { handledEntry } from '../../../support/handled-entry.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import { forwardedClock } from '../../../support/monotonic-clock.ts';
import { accepted, type EndpointOptions, eventAt, openDirectly } from '../../../support/open-endpoint.ts';
import { MINUTE_MS } from '../../../support/step-clock.ts';
import { openCounting } from './counting.ts';
import { FIX, handledIn } from './rerunning.ts';

const event = createEvent('transfer.succeeded');
const entry = handledEntry(event);
const LEASE_MS = 2_000;

/** A receiver whose handler "book" ends when the test says so. */
function openHeld(options: EndpointOptions = {}) {
  const held = new HeldHandler();
  return { ...openDirectly(options, (receiver) => receiver.on('*', held.handle, { name: 'book' })), held };
}

describe('the same run', () => {
  test('runs a handler once for each event', async () => {
    const { receiver, runs } = openCounting();
    await receiver.rerun(entry, FIX);
    expect(await receiver.rerun(entry, FIX)).toMatchObject({
      outcome: 'duplicate',
      status: 200,
      rerun: { run: 'fix' },
      handlers: [],
    });
    const another = createEvent('transfer.succeeded');
    expect(await receiver.rerun(handledEntry(another), FIX)).toMatchObject({ outcome: 'processed' });
    expect(runs.map(([id]) => id)).toEqual([event.id, another.id]);
  });

  test('runs it once in two receivers of one store', async () => {
    const store = createMemoryStore();
    const [one, other] = [openCounting({ store }), openCounting({ store })];
    expect(await one.receiver.rerun(entry, FIX)).toMatchObject({ outcome: 'processed' });
    expect(await other.receiver.rerun(entry, FIX)).toMatchObject({ outcome: 'duplicate' });
    expect(other.runs).toEqual([]);
  });

  test.each([
    ['the same receiver', true],
    ['another receiver of the store', false],
  ])('finds the event busy while it runs in %s', async (_title, isSame) => {
    const store = await handledIn(event);
    const { held, receiver } = openHeld({ store });
    const other = isSame ? { receiver } : openCounting({ store });
    const first = receiver.rerun(entry, FIX);
    const call = await held.calls.nth(1);
    expect(await other.receiver.rerun(entry, FIX)).toMatchObject({
      outcome: 'busy',
      status: 503,
      code: 'event_running',
      error: { message: expect.stringContaining('another rerun of the handler "book"') },
    });
    call.succeed();
    expect(await first).toMatchObject({ outcome: 'processed' });
    expect(await other.receiver.rerun(entry, FIX)).toMatchObject({ outcome: 'duplicate' });
    expect(held.calls.all).toHaveLength(1);
  });

  test('runs again if the handler failed', async () => {
    const { receiver, runs, state } = openCounting();
    state.failure = new Error('no database');
    expect(await receiver.rerun(entry, FIX)).toMatchObject({ outcome: 'failed', attempt: 1 });
    state.failure = undefined;
    expect(await receiver.rerun(entry, FIX)).toMatchObject({ outcome: 'processed', attempt: 2 });
    expect(await receiver.rerun(entry, FIX)).toMatchObject({ outcome: 'duplicate' });
    expect(runs).toHaveLength(2);
  });

  test('runs again after a crash, once its leases have run out', async () => {
    const forward = forwardedClock();
    const shared = { store: createMemoryStore(), leaseMs: LEASE_MS };
    const crashed = openHeld(shared);
    // A rerun that never ends, as far as the other can tell, is one whose process has died.
    void crashed.receiver.rerun(entry, FIX);
    await crashed.held.calls.nth(1);
    const next = openCounting(shared);
    expect(await next.receiver.rerun(entry, FIX)).toMatchObject({ code: 'event_running' });
    forward(LEASE_MS);
    expect(await next.receiver.rerun(entry, FIX)).toMatchObject({ outcome: 'processed', attempt: 2 });
    expect(next.runs).toHaveLength(1);
  });
});

test('a crash during a rerun does not count against a last delivery of the event', async () => {
  const forward = forwardedClock();
  const shared = { store: createMemoryStore(), deadLetters: createMapDeadLetters(), leaseMs: LEASE_MS };
  const crashed = openHeld(shared);
  const last = eventAt(Date.now() - 15 * MINUTE_MS);
  void crashed.receiver.rerun(handledEntry(last), FIX);
  await crashed.held.calls.nth(1);
  forward(LEASE_MS);
  const { runs, send } = openCounting(shared);
  expect(await send(last)).toEqual(accepted('processed', last.id));
  expect(runs).toMatchObject([[last.id, { attempt: 1, final: true }]]);
});

describe('another run', () => {
  test('runs the handler again', async () => {
    const { receiver, runs } = openCounting();
    for (const run of ['fix', 'fix 2', 'fix']) await receiver.rerun(entry, { handlers: ['book'], run });
    expect(runs.map(([, { rerun }]) => rerun?.run)).toEqual(['fix', 'fix 2']);
  });

  test('finds the handler busy while the first one has it, but not another handler', async () => {
    const held = new HeldHandler();
    const { receiver } = openDirectly({ store: await handledIn(event) }, (opened) =>
      opened.on('*', held.handle, { name: 'book' }).on('*', () => {}, { name: 'mail' }),
    );
    const both = handledEntry(event, { handled: ['book', 'mail'] });
    const first = receiver.rerun(both, FIX);
    const call = await held.calls.nth(1);
    expect(await receiver.rerun(both, { handlers: ['book'] })).toMatchObject({
      outcome: 'busy',
      code: 'event_running',
    });
    expect(await receiver.rerun(both, { handlers: ['mail'] })).toMatchObject({ outcome: 'processed' });
    call.succeed();
    expect(await first).toMatchObject({ outcome: 'processed' });
  });
});

test('without a name, each call is a run of its own', async () => {
  const { receiver, runs } = openCounting();
  for (let call = 0; call < 2; call += 1) {
    const report = await receiver.rerun(entry, { handlers: ['book'] });
    expect(report).toMatchObject({ outcome: 'processed', rerun: { run: expect.any(String) } });
  }
  expect(new Set(runs.map(([, { rerun }]) => rerun?.run)).size).toBe(2);
});

test.each([
  { reason: 'handled_before', outcome: 'duplicate' },
  { reason: 'superseded', outcome: 'processed' },
] as const)('an inbox that skips the event as $reason: $outcome', async ({ reason, outcome }) => {
  const { receiver } = openDirectly({}, (opened) => opened.on('*', () => skipped(reason), { name: 'book' }));
  expect(await receiver.rerun(entry, FIX)).toMatchObject({
    outcome,
    handlers: [{ name: 'book', ok: true, skipped: reason }],
  });
  expect(await receiver.rerun(entry, FIX)).toMatchObject({ outcome: 'duplicate', handlers: [] });
});

test('a completion that the store does not take is a warning, and the same run is a duplicate here', async () => {
  flowingTime();
  const memory = createMemoryStore();
  const state = { isTaken: false };
  onTestFinished(() => {
    state.isTaken = true;
  });
  const complete: Store['complete'] = (request) =>
    state.isTaken ? memory.complete(request) : Promise.reject(new Error('ECONNRESET'));
  const options = { store: { ...memory, complete, commandTimeoutMs: 50 }, leaseMs: LEASE_MS };
  const { receiver, runs } = openCounting(options);
  expect(await receiver.rerun(entry, FIX)).toMatchObject({
    outcome: 'processed',
    warnings: [expect.stringMatching(/^completion_pending: /)],
  });
  // Nothing renews its lease any more.
  await new Promise((resolve) => setTimeout(resolve, 2 * LEASE_MS));
  expect(await receiver.rerun(entry, FIX)).toMatchObject({ outcome: 'duplicate' });
  expect(runs).toHaveLength(1);
  state.isTaken = true;
  const id = `handled:rerun:4:book:3:fix:${event.id}`;
  await vi.waitFor(() => expect(memory.peek?.({ id })).toEqual({ state: 'completed' }));
});
