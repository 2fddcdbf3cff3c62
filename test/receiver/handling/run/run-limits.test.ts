import { setImmediate } from 'node:timers/promises';
import { AbortedError, createMemoryStore, type Store } from 'posthorn';
import { beforeEach, describe, expect, test } from 'vitest';
import { aborted } from '../../../support/aborted.ts';
import { flowingTime } from '../../../support/fake-time.ts';
import { shutGate } from '../../../support/gate.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import {
  accepted,
  type EndpointOptions,
  eventAt,
  openEndpoint,
  refused,
} from '../../../support/open-endpoint.ts';
import { readAll } from '../../../support/read-all.ts';
import { Seen } from '../../../support/seen.ts';
import { MINUTE_MS } from '../../../support/step-clock.ts';
import { until } from '../../../support/until.ts';

async function openHeld(options: EndpointOptions, held = new HeldHandler(), more: { name?: string } = {}) {
  const endpoint = await openEndpoint(options, (receiver) => receiver.on('transfer.*', held.handle, more));
  return { ...endpoint, send: endpoint.receive, held, event: eventAt(Date.now()) };
}

beforeEach(flowingTime);

describe('maxRunMs', () => {
  const maxRunMs = 1_500;

  test('aborts the handlers, and frees the event for its next attempt', async () => {
    const { event, held, reports, send } = await openHeld({ maxRunMs });
    expect(await send(event)).toEqual(refused(503, 'run_timeout'));
    const { signal } = (await held.calls.nth(1)).context;
    expect(signal.reason).toBeInstanceOf(AbortedError);
    expect(signal.reason).toMatchObject({ code: 'run_timeout' });
    const retried = send(event);
    const second = await held.calls.nth(2);
    expect(second.context.attempt).toBe(2);
    expect(second.context.signal.aborted).toBe(false);
    second.succeed();
    expect(await retried).toEqual(accepted('processed', event.id));
    expect(reports.all).toMatchObject([
      { outcome: 'failed', code: 'run_timeout', attempt: 1, late: false, endpointAtRisk: false },
      { outcome: 'processed', attempt: 2, late: false },
    ]);
  });

  test('is no lost lease: the report warns of none', async () => {
    const { event, reports, send } = await openHeld({ maxRunMs: 200, deadLetters: createMapDeadLetters() });
    expect(await send(event)).toEqual(refused(503, 'run_timeout'));
    expect(reports.all).toMatchObject([{ code: 'run_timeout', warnings: [] }]);
  });

  test('does not pass while the run waits for another process that has taken its event', async () => {
    const memory = createMemoryStore();
    let isTaken = false;
    let sawLoss = false;
    const store: Store = {
      ...memory,
      claim: (request) => (isTaken ? { state: 'busy', msLeft: 20 } : memory.claim(request)),
      renew: (request) => {
        sawLoss ||= isTaken;
        return isTaken ? { state: 'lost' } : memory.renew(request);
      },
    };
    // The schema takes its time, in which the lease is lost; the limit counts from its start.
    const gate = shutGate();
    const validate = async (value: unknown) => {
      await gate.pass();
      return { value };
    };
    const transfer = { '~standard': { version: 1, vendor: 'test', validate } } as const;
    const { event, held, send } = await openHeld({ maxRunMs, store, leaseMs: 300, schemas: { transfer } });
    const answer = send(event);
    await gate.held.nth(1);
    isTaken = true;
    await until('the loss is known', () => sawLoss);
    gate.open();
    const passedAt = performance.now() + 1.5 * maxRunMs;
    await until('maxRunMs has passed', () => performance.now() > passedAt);
    isTaken = false;
    const call = await held.calls.nth(1);
    expect(call.context.signal.aborted).toBe(false);
    call.succeed();
    expect(await answer).toEqual(accepted('processed', event.id));
  });

  test('does not keep a late success from completing the event', async () => {
    const { event, held, send } = await openHeld({ maxRunMs });
    expect(await send(event)).toEqual(refused(503, 'run_timeout'));
    held.calls.all[0]?.succeed();
    expect(await send(event)).toEqual(accepted('duplicate', event.id));
    expect(held.calls.all).toHaveLength(1);
  });

  test('does not make a handler that finishes late run again beside one that fails late', async () => {
    const [book, mail] = [new HeldHandler(), new HeldHandler()];
    const { event, receiver, send } = await openHeld({ maxRunMs }, book, { name: 'book' });
    receiver.on('transfer.*', mail.handle, { name: 'mail' });
    expect(await send(event)).toEqual(refused(503, 'run_timeout'));
    book.calls.all[0]?.succeed();
    mail.calls.all[0]?.fail(new Error('late'));
    await setImmediate();
    const retried = send(event);
    (await mail.calls.nth(2)).succeed();
    expect(await retried).toEqual(accepted('processed', event.id));
    expect(book.calls.all).toHaveLength(1);
  });

  test('is reported late, once, where the deadline came before; the deadline aborts nothing', async () => {
    const { event, held, reports, send } = await openHeld({ maxRunMs, deadlineMs: 50 });
    expect(await send(event)).toEqual(refused(503, 'deadline_reached'));
    const { signal } = (await held.calls.nth(1)).context;
    expect(signal.aborted).toBe(false);
    await reports.first(({ late }) => late);
    expect(signal.reason).toMatchObject({ code: 'run_timeout' });
    held.calls.all[0]?.succeed();
    expect(await send(event)).toEqual(accepted('duplicate', event.id));
    expect(reports.all).toMatchObject([
      { outcome: 'failed', code: 'deadline_reached', late: false },
      { outcome: 'failed', code: 'run_timeout', late: true },
      { outcome: 'duplicate', late: false },
    ]);
  });

  test('parks a last attempt; a late success takes the letter out', async () => {
    const deadLetters = createMapDeadLetters();
    const { held, reports, send } = await openHeld({ maxRunMs, deadLetters });
    const event = eventAt(Date.now() - 15 * MINUTE_MS);
    expect(await send(event)).toEqual(accepted('parked', event.id));
    expect(reports.all).toMatchObject([{ outcome: 'parked', code: 'run_timeout', final: true }]);
    const letters = await readAll(deadLetters.list());
    expect(letters).toMatchObject([{ id: event.id, reason: 'run_timeout' }]);
    expect(letters[0]?.runningUntil).toBeUndefined();
    held.calls.all[0]?.succeed();
    await expect.poll(() => deadLetters.get(event.id)).toBeUndefined();
    expect(await send(event)).toEqual(accepted('duplicate', event.id));
  });
});

/** A store whose renewals can be made to fail, and are seen. */
class FickleRenewals {
  readonly store: Store;
  readonly results: Seen<string> = new Seen();
  failing = false;

  constructor(store: Store) {
    const renew: Store['renew'] = async (request) => {
      if (this.failing) {
        this.results.add('failed');
        throw new Error('ECONNRESET');
      }
      const result = await store.renew(request);
      this.results.add(result.state);
      return result;
    };
    this.store = { ...store, renew };
  }
}

const leaseMs = 240;

describe('a lease', () => {
  test('is renewed while handlers run', async () => {
    const renewals = new FickleRenewals(createMemoryStore());
    const { event, held, send } = await openHeld({ store: renewals.store, leaseMs });
    const answer = send(event);
    const call = await held.calls.nth(1);
    await renewals.results.nth(6);
    expect(renewals.results.all).toEqual(Array.from({ length: 6 }, () => 'held'));
    const claim = { id: event.id, token: 'another', leaseMs, retentionMs: 60_000 };
    expect(await renewals.store.claim(claim)).toMatchObject({ state: 'busy' });
    call.succeed();
    expect(await answer).toEqual(accepted('processed', event.id));
  });

  test('that could not be renewed for a while, and that nobody took, is held on to', async () => {
    const renewals = new FickleRenewals(createMemoryStore());
    const { event, held, reports, send } = await openHeld({ store: renewals.store, leaseMs });
    const answer = send(event);
    const call = await held.calls.nth(1);
    renewals.failing = true;
    await renewals.results.nth(5, (result) => result === 'failed');
    renewals.failing = false;
    // Not the first one that was held: that can have come before they failed.
    expect(await renewals.results.nth(renewals.results.all.length + 1)).toBe('held');
    expect(call.context.signal.aborted).toBe(false);
    call.succeed();
    expect(await answer).toEqual(accepted('processed', event.id));
    expect(reports.all[0]?.warnings.filter((warning) => warning.startsWith('lease_lost'))).toEqual([]);
  });

  test('in a store that was emptied is held on to', async () => {
    let current = createMemoryStore();
    const renewals = new FickleRenewals({
      claim: (request) => current.claim(request),
      renew: (request) => current.renew(request),
      complete: (request) => current.complete(request),
      release: (request) => current.release(request),
    });
    const { event, held, send } = await openHeld({ store: renewals.store, leaseMs });
    const answer = send(event);
    const call = await held.calls.nth(1);
    current = createMemoryStore();
    const count = renewals.results.all.length;
    await renewals.results.nth(count + 2);
    const claim = { id: event.id, token: 'another', leaseMs, retentionMs: 60_000 };
    expect(await current.claim(claim)).toMatchObject({ state: 'busy' });
    expect(call.context.signal.aborted).toBe(false);
    call.succeed();
    expect(await answer).toEqual(accepted('processed', event.id));
  });
});

test('a lease is not renewed once its release has begun, which would claim the event anew', async () => {
  const memory = createMemoryStore();
  const gate = shutGate();
  const release: Store['release'] = (request) => gate.pass().then(() => memory.release(request));
  const renewals = new FickleRenewals({ ...memory, release });
  const { event, held, send } = await openHeld({ store: renewals.store, leaseMs });
  const answer = send(event);
  (await held.calls.nth(1)).fail(new Error('away'));
  await gate.held.nth(1);
  const { length } = renewals.results.all;
  const passedAt = performance.now() + leaseMs;
  await until('the lease has passed', () => performance.now() > passedAt);
  expect(renewals.results.all).toHaveLength(length);
  gate.open();
  expect(await answer).toEqual(refused(500, 'handler_failed'));
});

describe('a lease that another process took', () => {
  /**
   * Both receivers run the same event: the first could not renew its lease, and has now learnt that it is
   * lost.
   */
  async function openLost() {
    const store = createMemoryStore();
    const renewals = new FickleRenewals(store);
    const a = await openHeld({ store: renewals.store, leaseMs });
    const b = await openHeld({ store, leaseMs });
    const answerOfA = a.send(a.event);
    const callOfA = await a.held.calls.nth(1);
    renewals.failing = true;
    const answerOfB = b.send(a.event);
    const callOfB = await b.held.calls.nth(1);
    renewals.failing = false;
    const reason = await aborted(callOfA.context.signal);
    return { a, b, answerOfA, answerOfB, callOfA, callOfB, event: a.event, reason };
  }

  test('aborts the signal of its former owner only', async () => {
    const { answerOfA, answerOfB, callOfA, callOfB, event, reason } = await openLost();
    expect(reason).toBeInstanceOf(AbortedError);
    expect(reason).toMatchObject({ code: 'lease_lost' });
    expect(callOfB.context).toMatchObject({ attempt: 2 });
    expect(callOfB.context.signal.aborted).toBe(false);
    callOfA.fail(reason);
    expect(await answerOfA).toEqual(refused(500, 'handler_failed'));
    callOfB.succeed();
    expect(await answerOfB).toEqual(accepted('processed', event.id));
  });

  test('does not take back a success: it completes the event, for the new owner too', async () => {
    const { a, answerOfA, answerOfB, callOfA, callOfB, event } = await openLost();
    callOfA.succeed();
    expect(await answerOfA).toEqual(accepted('processed', event.id));
    expect(a.reports.all).toMatchObject([
      {
        outcome: 'processed',
        warnings: expect.arrayContaining([expect.stringMatching(/^lease_lost: /)]),
      },
    ]);
    expect(await answerOfB).toEqual(accepted('duplicate', event.id));
    expect(callOfB.context.signal.reason).toMatchObject({ code: 'completed_elsewhere' });
  });

  test('and completed: a receiver without dead letters has none to take out, and warns of none', async () => {
    const store = createMemoryStore();
    const { event, held, reports, send } = await openHeld({ store, leaseMs });
    const answer = send(event);
    const { signal } = (await held.calls.nth(1)).context;
    await store.complete({ id: event.id, token: 'elsewhere', retentionMs: 60_000 });
    expect(await aborted(signal)).toMatchObject({ code: 'completed_elsewhere' });
    expect(await answer).toEqual(accepted('duplicate', event.id));
    expect(reports.all[0]?.warnings).toEqual([
      expect.stringMatching(/^dead_letters_missing: /),
      expect.stringMatching(/^lease_lost: /),
    ]);
  });

  test('and completed: its former owner is a duplicate even where it fails', async () => {
    const { a, answerOfA, answerOfB, callOfA, callOfB, event } = await openLost();
    callOfB.succeed();
    expect(await answerOfB).toEqual(accepted('processed', event.id));
    callOfA.fail(new Error('aborted'));
    expect(await answerOfA).toEqual(accepted('duplicate', event.id));
    expect(a.reports.all).toMatchObject([{ outcome: 'duplicate', endpointAtRisk: false }]);
  });
});
