import { createMemoryStore, PermanentError, type Store } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { fakeTime, flowingTime, passUntil } from '../../../support/fake-time.ts';
import { handledEntry } from '../../../support/handled-entry.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { letterOf } from '../../../support/letter-of.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import { accepted, openDirectly } from '../../../support/open-endpoint.ts';
import { readAll } from '../../../support/read-all.ts';
import { unanswered } from '../../../support/unanswered.ts';
import { openJournaledDirectly } from '../../journal/journaled.ts';
import { openCounting } from './counting.ts';
import { FIX, handledIn } from './rerunning.ts';

const event = createEvent('transfer.succeeded');
const entry = handledEntry(event);
const LEASE_MS = 3_000;

describe('a handler that fails', () => {
  test.each([
    ['an error', new Error('no database'), 'handler_failed'],
    ['a PermanentError', new PermanentError('no amount'), 'handler_failed_permanently'],
  ])('with %s is reported, and changes nothing else', async (_title, failure, code) => {
    const deadLetters = createMapDeadLetters();
    const { receiver, send, state } = openCounting({ deadLetters, store: await handledIn(event) });
    state.failure = failure;
    expect(await receiver.rerun(entry, FIX)).toMatchObject({
      outcome: 'failed',
      status: 500,
      code,
      error: { message: expect.stringContaining(failure.message) },
      endpointAtRisk: false,
      handlers: [{ name: 'book', ok: false }],
    });
    expect(await readAll(deadLetters.list())).toEqual([]);
    expect(await send(event)).toEqual(accepted('duplicate', event.id));
  });

  test('leaves the entry of the journal as it is', async () => {
    let isBroken = false;
    const opened = openJournaledDirectly({}, (receiver) =>
      receiver.on(
        '*',
        () => {
          if (isBroken) throw new Error('no database');
        },
        { name: 'book' },
      ),
    );
    await opened.send(event);
    isBroken = true;
    expect(await opened.receiver.rerun(entry, FIX)).toMatchObject({ outcome: 'failed' });
    expect(await opened.onlyEntry()).toMatchObject({ outcome: 'processed', attempts: 1, handled: ['book'] });
  });

  test.each([
    ['fails', new Error('still broken'), 'failed'],
    ['succeeds', undefined, 'processed'],
  ])('and has a dead letter, which stays untouched if the rerun %s', async (_title, failure, outcome) => {
    const deadLetters = createMapDeadLetters();
    const { receiver, runs, state } = openCounting({ deadLetters });
    state.failure = new Error('no database');
    await receiver.accept(event, { source: 'events.list' });
    const before = await letterOf(deadLetters, event.id);
    state.failure = failure;
    expect(await receiver.rerun(entry, FIX)).toMatchObject({ outcome });
    expect(await readAll(deadLetters.list())).toEqual([before]);
    state.failure = undefined;
    expect(await receiver.replay(before)).toMatchObject({ outcome: 'processed', attempt: 2 });
    expect(runs).toHaveLength(3);
  });
});

test('a handler that outlasts maxRunMs is aborted, and the same run may be tried again', async () => {
  const pass = fakeTime();
  const held = new HeldHandler();
  const { receiver } = openDirectly({ maxRunMs: 60_000 }, (opened) =>
    opened.on('*', held.handle, { name: 'book' }),
  );
  const rerun = receiver.rerun(entry, FIX);
  const { context, fail } = await passUntil(pass, held.calls.nth(1));
  expect(await passUntil(pass, rerun)).toMatchObject({ outcome: 'failed', code: 'run_timeout' });
  expect(context.signal.aborted).toBe(true);
  fail(new Error('aborted'));
  const again = receiver.rerun(entry, FIX);
  (await passUntil(pass, held.calls.nth(2))).succeed();
  expect(await passUntil(pass, again)).toMatchObject({ outcome: 'processed' });
});

describe('a lost lease aborts the handler:', () => {
  const ids = {
    'the event': event.id,
    'the turn of the handler': `handled:rerun-turn:4:book:${event.id}`,
    'the run': `handled:rerun:4:book:3:fix:${event.id}`,
  };

  test.each(Object.entries(ids))('%s', async (_title, id) => {
    const pass = fakeTime();
    const held = new HeldHandler();
    const memory = createMemoryStore();
    const renew: Store['renew'] = (request) =>
      request.id === id ? { state: 'lost' } : memory.renew(request);
    const { receiver } = openDirectly({ store: { ...memory, renew }, leaseMs: LEASE_MS }, (opened) =>
      opened.on('*', held.handle, { name: 'book' }),
    );
    const rerun = receiver.rerun(entry, FIX);
    const { context, fail } = await passUntil(pass, held.calls.nth(1));
    expect(context.signal.aborted).toBe(false);
    await pass(LEASE_MS);
    expect(context.signal.reason).toMatchObject({ code: 'lease_lost' });
    fail(context.signal.reason);
    expect(await passUntil(pass, rerun)).toMatchObject({ outcome: 'failed' });
  });

  test('if another process completes the event meanwhile, the handler goes on', async () => {
    const pass = fakeTime();
    const held = new HeldHandler();
    const store = createMemoryStore();
    const { receiver } = openDirectly({ store, leaseMs: LEASE_MS }, (opened) =>
      opened.on('*', held.handle, { name: 'book' }),
    );
    const rerun = receiver.rerun(entry, FIX);
    const { context, succeed } = await passUntil(pass, held.calls.nth(1));
    await store.complete({ id: event.id, token: 'a late delivery', retentionMs: 60_000 });
    await pass(LEASE_MS);
    expect(context.signal.aborted).toBe(false);
    succeed();
    expect(await passUntil(pass, rerun)).toMatchObject({ outcome: 'processed' });
    expect(store.peek?.({ id: event.id })).toEqual({ state: 'completed' });
  });
});

describe('a store that is away: no handler runs,', () => {
  beforeEach(flowingTime);

  const away: Record<string, () => Promise<never>> = {
    refuses: () => Promise.reject(new Error('ECONNREFUSED')),
    'does not answer': unanswered,
  };

  test.each(
    (['reject', 'process'] as const).flatMap((onStoreFailure) =>
      Object.entries(away).map(([name, claim]) => ({ onStoreFailure, name, claim })),
    ),
  )('if it $name, with onStoreFailure "$onStoreFailure"', async ({ onStoreFailure, claim }) => {
    const store = { ...createMemoryStore(), claim, commandTimeoutMs: 50 };
    const { receiver, runs } = openCounting({ store, onStoreFailure });
    expect(await receiver.rerun(entry, FIX)).toMatchObject({
      outcome: 'failed',
      status: 503,
      code: 'store_unavailable',
      attempt: undefined,
    });
    expect(runs).toEqual([]);
  });

  test('if it fails only the claim of the run, with onStoreFailure "process"', async () => {
    const memory = createMemoryStore();
    const claim: Store['claim'] = (request) =>
      request.id.startsWith('handled:rerun:')
        ? Promise.reject(new Error('ECONNRESET'))
        : memory.claim(request);
    const { receiver, runs } = openCounting({ store: { ...memory, claim }, onStoreFailure: 'process' });
    expect(await receiver.rerun(entry, FIX)).toMatchObject({ outcome: 'failed', code: 'store_unavailable' });
    expect(runs).toEqual([]);
    // The event and the turn are free again.
    expect(
      memory.claim({ id: event.id, token: 'a delivery', leaseMs: 1_000, retentionMs: 1_000 }),
    ).toMatchObject({
      state: 'claimed',
      attempt: 1,
    });
  });
});

describe('close()', () => {
  test('waits for a rerun, which health counts', async () => {
    const held = new HeldHandler();
    const { receiver } = openDirectly({}, (opened) => opened.on('*', held.handle, { name: 'book' }));
    const rerun = receiver.rerun(entry, FIX);
    const call = await held.calls.nth(1);
    expect(await receiver.health()).toMatchObject({ running: 1, lastDelivery: undefined });
    const closing = receiver.close();
    call.succeed();
    expect(await closing).toEqual({ abandoned: [] });
    expect(await rerun).toMatchObject({ outcome: 'processed' });
    expect(await receiver.health()).toMatchObject({ running: 0 });
  });

  test('without grace aborts it, and begins no further handler; the same run may be tried again', async () => {
    const held = new HeldHandler();
    const store = createMemoryStore();
    const both = handledEntry(event, { handled: ['book', 'mail'] });
    const names = { handlers: ['book', 'mail'], run: 'fix' };
    const { receiver, reports } = openDirectly({ store }, (opened) =>
      opened.on('*', held.handle, { name: 'book' }).on('*', held.handle, { name: 'mail' }),
    );
    const rerun = receiver.rerun(both, names);
    const { context } = await held.calls.nth(1);
    expect(await receiver.close({ graceMs: 0 })).toEqual({ abandoned: [event.id] });
    expect(context.signal.reason).toMatchObject({ code: 'run_closed' });
    expect(await rerun).toMatchObject({ outcome: 'failed', code: 'run_closed' });
    expect(reports.all.map(({ code }) => code)).toEqual(['run_closed', 'closing']);
    expect(held.calls.all).toHaveLength(1);
    const next = openCounting({ store });
    expect(await next.receiver.rerun(entry, FIX)).toMatchObject({ outcome: 'processed', attempt: 2 });
  });

  test('before a rerun refuses it', async () => {
    const { receiver, runs } = openCounting();
    await receiver.close();
    expect(await receiver.rerun(entry, FIX)).toMatchObject({
      outcome: 'failed',
      status: 503,
      code: 'closing',
      event: { id: event.id },
    });
    expect(runs).toEqual([]);
  });
});
