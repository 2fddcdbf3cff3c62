import { createReceiver, type Store } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { HeldHandler } from '../../../support/held-handler.ts';
import { letterOf } from '../../../support/letter-of.ts';
import { accepted, eventAt, openDirectly } from '../../../support/open-endpoint.ts';
import { otherSender } from '../../../support/other-sender.ts';
import { readAll } from '../../../support/read-all.ts';
import { KEY } from '../../../support/served.ts';
import { MINUTE_MS, stepClocked } from '../../../support/step-clock.ts';
import { throwing } from '../../../support/throwing.ts';
import { asUserStore } from '../run/user-store.ts';
import { openCounting, SOURCE } from './counting.ts';

const HOUR_MS = 60 * MINUTE_MS;

/** An event, a receiver that remembers for a day by default, and its clock. */
function openAt(offsetMs: number, options: { store?: (store: Store) => Store; maxEventAgeMs?: number } = {}) {
  const { clock, deadLetters, store } = stepClocked();
  const { store: wrap = (same) => same, ...others } = options;
  const endpoint = openCounting({ now: clock.now, deadLetters, store: wrap(store), ...others });
  const event = eventAt(clock.startedAt);
  clock.moveTo(offsetMs);
  return { ...endpoint, clock, deadLetters, event };
}

describe('an event that is older than the store remembers', () => {
  test('is refused, and says how it may run all the same', async () => {
    const { event, receiver, runs } = openAt(25 * HOUR_MS);
    const report = await receiver.accept(event, SOURCE);
    expect(report).toMatchObject({ outcome: 'rejected', code: 'event_too_old', event: { id: event.id } });
    expect(report.error?.message).toContain(event.created_at);
    expect(report.error?.message).toContain('allowForgotten: true');
    expect(runs).toEqual([]);
    expect(await receiver.accept(event, { ...SOURCE, allowForgotten: true })).toMatchObject({
      outcome: 'processed',
    });
  });

  test('is younger than that for exactly the time that the store keeps it, less the margin', async () => {
    for (const [offsetMs, outcome] of [
      [24 * HOUR_MS, 'processed'],
      [24 * HOUR_MS + 1, 'rejected'],
    ] as const) {
      const { event, receiver } = openAt(offsetMs);
      expect(await receiver.accept(event, SOURCE)).toMatchObject({ outcome });
    }
  });

  test('is remembered for as long as maxEventAgeMs, if that is longer', async () => {
    const { event, receiver } = openAt(70 * HOUR_MS, { maxEventAgeMs: 72 * HOUR_MS });
    expect(await receiver.accept(event, SOURCE)).toMatchObject({ outcome: 'processed' });
  });

  test.each([
    ['a store', (store: Store) => store],
    ['a store of the user without peek', asUserStore],
  ])('is a duplicate while %s still knows it', async (_title, wrap) => {
    const { clock, event, receiver, runs } = openAt(23 * HOUR_MS, { store: wrap });
    expect(await receiver.accept(event, SOURCE)).toMatchObject({ outcome: 'processed' });
    clock.moveTo(30 * HOUR_MS);
    expect(await receiver.accept(event, SOURCE)).toMatchObject({ outcome: 'duplicate' });
    expect(await receiver.accept(event, { ...SOURCE, allowForgotten: true })).toMatchObject({
      outcome: 'duplicate',
    });
    expect(runs).toHaveLength(1);
  });

  test('waits for its run in this process, and is not refused', async () => {
    const { clock, store } = stepClocked();
    const held = new HeldHandler();
    const { receiver, send } = openDirectly({ now: clock.now, store }, (opened) =>
      opened.on('*', held.handle),
    );
    const event = eventAt(clock.startedAt);
    const delivered = send(event);
    const call = await held.calls.nth(1);
    clock.moveTo(30 * HOUR_MS);
    const fetched = receiver.accept(event, SOURCE);
    call.succeed();
    expect(await delivered).toEqual(accepted('processed', event.id));
    expect(await fetched).toMatchObject({ outcome: 'duplicate' });
  });

  test('is refused by a store of the user without peek, if that does not know it', async () => {
    const { event, receiver } = openAt(30 * HOUR_MS, { store: asUserStore });
    expect(await receiver.accept(event, SOURCE)).toMatchObject({ code: 'event_too_old' });
  });

  test.each([
    ['a store', (store: Store): Store => ({ ...store, peek: throwing('no connection') })],
    [
      'a store of the user without peek',
      (store: Store): Store => ({ ...asUserStore(store), claim: throwing('no connection') }),
    ],
  ])('is failed, not refused, if %s does not answer', async (_title, store) => {
    const { event, receiver } = openAt(30 * HOUR_MS, { store });
    expect(await receiver.accept(event, SOURCE)).toMatchObject({
      outcome: 'failed',
      code: 'store_unavailable',
    });
  });
});

describe('the dead letter of a forgotten event', () => {
  /** An event that has failed three days ago. */
  async function openParked() {
    const opened = openAt(MINUTE_MS);
    const { clock, event, receiver, runs, state } = opened;
    state.failure = new Error('no mail server');
    expect(await receiver.accept(event, SOURCE)).toMatchObject({ outcome: 'parked' });
    state.failure = undefined;
    clock.moveTo(72 * HOUR_MS);
    runs.length = 0;
    return opened;
  }

  test.each([false, true])('waits for a replay, with allowForgotten %s', async (allowForgotten) => {
    const { deadLetters, event, receiver, runs } = await openParked();
    const report = await receiver.accept(event, { ...SOURCE, allowForgotten });
    expect(report).toMatchObject({ outcome: 'parked', code: 'handler_failed' });
    expect(runs).toEqual([]);
    expect(await readAll(deadLetters.list())).toHaveLength(1);
  });

  test('whose reason a later version has written is reported without a code', async () => {
    const { deadLetters, event, receiver } = await openParked();
    await deadLetters.put({ ...(await letterOf(deadLetters, event.id)), reason: 'of_tomorrow' });
    const { code, error, outcome } = await receiver.accept(event, SOURCE);
    expect([outcome, code, error]).toEqual(['parked', undefined, undefined]);
  });

  test('whose event may be running is not waited for', async () => {
    const { clock, deadLetters, event, receiver } = await openParked();
    const letter = await letterOf(deadLetters, event.id);
    await deadLetters.put({ ...letter, runningUntil: clock.now() + MINUTE_MS });
    const report = await receiver.accept(event, { ...SOURCE, allowForgotten: true });
    expect(report).toMatchObject({ outcome: 'processed' });
    expect(await readAll(deadLetters.list())).toEqual([]);
  });

  test('that cannot be read fails the event, which may be parked', async () => {
    const { deadLetters, event, receiver, runs } = await openParked();
    Object.assign(deadLetters, { get: throwing('no disk') });
    const report = await receiver.accept(event, { ...SOURCE, allowForgotten: true });
    expect(report).toMatchObject({ outcome: 'failed', code: 'store_unavailable' });
    expect(runs).toEqual([]);
  });
});

describe('a sender that does not say when its events were created', () => {
  function open(maxEventAgeMs?: number) {
    const { clock, store } = stepClocked();
    const options = { provider: otherSender(), now: clock.now, store, maxEventAgeMs };
    const receiver = createReceiver({ signingKey: KEY, ...options });
    receiver.on('*', () => {}).observe(() => {});
    return { clock, receiver, event: { event_id: 'evt_1', type: 'refund' } };
  }

  test('needs createdAtMs or allowForgotten', async () => {
    const { event, receiver } = open();
    const report = await receiver.accept(event, SOURCE);
    expect(report).toMatchObject({ outcome: 'rejected', code: 'event_too_old', event: { id: 'evt_1' } });
    expect(report.error?.message).toContain('give createdAtMs');
    expect(await receiver.accept(event, { ...SOURCE, allowForgotten: true })).toMatchObject({
      outcome: 'processed',
    });
  });

  test.each([
    [21 * HOUR_MS, 'processed'],
    [24 * HOUR_MS, 'rejected'],
  ])('is remembered for retentionMs less a margin: %d ms after its creation', async (ageMs, outcome) => {
    const { clock, event, receiver } = open();
    const createdAtMs = clock.now() - ageMs;
    expect(await receiver.accept(event, { ...SOURCE, createdAtMs })).toMatchObject({ outcome });
  });

  test.each([undefined, Number.POSITIVE_INFINITY])(
    'a createdAtMs in the future, as one in microseconds is, is refused with maxEventAgeMs %s',
    async (maxEventAgeMs) => {
      const { clock, event, receiver } = open(maxEventAgeMs);
      const report = await receiver.accept(event, { ...SOURCE, createdAtMs: clock.now() * 1_000 });
      expect(report).toMatchObject({ outcome: 'rejected', code: 'event_in_future' });
    },
  );

  test('the time in an event counts before createdAtMs', async () => {
    const { clock, receiver } = open();
    const event = { event_id: 'evt_1', type: 'refund', created: (clock.now() - 30 * HOUR_MS) / 1_000 };
    const report = await receiver.accept(event, { ...SOURCE, createdAtMs: clock.now() });
    expect(report).toMatchObject({ code: 'event_too_old' });
  });
});
