import { createMemoryStore, createReceiver, type Receiver, type ReceiverOptions } from 'posthorn';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { fakeTime, passUntil } from '../../support/fake-time.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { letterOf } from '../../support/letter-of.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { accepted, refused } from '../../support/open-endpoint.ts';
import { KEY } from '../../support/served.ts';
import { MINUTE_MS } from '../../support/step-clock.ts';
import { ListQueue } from '../queue/list-queue.ts';
import { byResource, claimAndDie, eventOf, KEY_A, openHeld, tellingStore } from './keyed-events.ts';

/** A dead letter of an event whose key was busy, and the store, in which the key is busy for a minute. */
async function openParked() {
  const pass = fakeTime();
  const deadLetters = createMapDeadLetters();
  const { store, claims, releases } = tellingStore();
  await claimAndDie(store);
  const opened = openHeld({ store, deadLetters });
  const event = eventOf('a', Date.now() - 15 * MINUTE_MS);
  expect(await passUntil(pass, opened.send(event))).toEqual(accepted('parked', event.id));
  const letter = await letterOf(deadLetters, event.id);
  return { pass, deadLetters, store, claims, releases, event, letter, ...opened };
}

describe('a replay', () => {
  test('waits for the key like a delivery, and resolves after its release', async () => {
    const { pass, deadLetters, event, held, letter, receiver, releases } = await openParked();
    // The key is free after 60 seconds.
    await pass(30_000);
    const replayed = receiver.replay(letter);
    await pass(5_000);
    expect(held.calls.all).toEqual([]);
    (await passUntil(pass, held.calls.nth(1))).succeed();
    expect(await passUntil(pass, replayed)).toMatchObject({ outcome: 'processed', event: { id: event.id } });
    expect(releases).toContain(KEY_A);
    expect(await deadLetters.get(event.id)).toBeUndefined();
  });

  test('parks its event again if the key stays busy, and needs no permit', async () => {
    const { pass, deadLetters, event, letter, receiver } = await openParked();
    expect(await passUntil(pass, receiver.replay(letter))).toMatchObject({
      outcome: 'parked',
      code: 'key_busy',
    });
    const again = await letterOf(deadLetters, event.id);
    expect(again).toMatchObject({ reason: 'key_busy', parkedAt: letter.parkedAt });
    expect(again.runningUntil).toBeUndefined();
  });
});

test('a drop does not touch the keys', async () => {
  const { claims, releases, deadLetters, event, letter, receiver } = await openParked();
  claims.length = 0;
  releases.length = 0;
  expect(await receiver.drop(letter)).toBe(true);
  expect(await deadLetters.get(event.id)).toBeUndefined();
  expect([...claims, ...releases]).not.toContain(KEY_A);
});

describe('a job', () => {
  /** The job of an event whose key is busy for a minute, and its worker. */
  async function openJob() {
    const pass = fakeTime();
    const queue = new ListQueue();
    const deadLetters = createMapDeadLetters();
    const { store, releases } = tellingStore();
    const held = new HeldHandler();
    const open = (options: Partial<ReceiverOptions<Record<never, never>>> = {}): Receiver => {
      const receiver = createReceiver({ signingKey: KEY, queue, deadLetters, store, ...options });
      receiver.on('*', held.handle, { ...byResource, queue: true }).observe(() => {});
      onTestFinished(async () => void (await receiver.close({ graceMs: 0 })));
      return receiver;
    };
    const worker = open();
    const event = eventOf('a');
    expect(await passUntil(pass, worker.receive(deliveryOf(event)))).toHaveProperty('status', 202);
    return { pass, deadLetters, event, held, job: queue.take(), releases, store, worker };
  }

  test.each([
    ['is put back at once', { final: false }, 'busy'],
    ['is put back at once at a last attempt', { final: true }, 'busy'],
    [
      'is put back before its last attempt, whatever parksBusyKey',
      { final: false, parksBusyKey: true },
      'busy',
    ],
    ['is parked at a last attempt with parksBusyKey', { final: true, parksBusyKey: true }, 'parked'],
  ])('whose key is busy in another process %s', async (_, options, outcome) => {
    const { pass, deadLetters, event, held, job, store, worker } = await openJob();
    await claimAndDie(store);
    const startedAt = performance.now();
    const report = await passUntil(pass, worker.dispatch(job, { attempt: 1, ...options }));
    expect(performance.now() - startedAt).toBeLessThanOrEqual(40);
    expect(report).toMatchObject({ outcome, code: 'key_busy', source: 'job' });
    expect(held.calls.all).toEqual([]);
    if (outcome !== 'parked') return;
    const letter = await letterOf(deadLetters, event.id);
    expect(letter).toMatchObject({ reason: 'key_busy' });
    expect(letter.runningUntil).toBeUndefined();
  });

  test('whose key is busy in this process is put back at once', async () => {
    const { pass, held, job, releases, worker } = await openJob();
    const running = worker.dispatch(job, { attempt: 1, final: false });
    const { succeed } = await passUntil(pass, held.calls.nth(1));
    const other = { ...Object(job), ...otherJob() };
    const report = await passUntil(pass, worker.dispatch(other, { attempt: 1, final: false }));
    expect(report).toMatchObject({ outcome: 'busy', code: 'key_busy' });
    succeed();
    expect(await passUntil(pass, running)).toMatchObject({ outcome: 'processed' });
    // The next job of the key can begin as soon as the promise has resolved.
    expect(releases).toContain(KEY_A);
    const next = worker.dispatch(other, { attempt: 1, final: false });
    (await passUntil(pass, held.calls.nth(2))).succeed();
    expect(await passUntil(pass, next)).toMatchObject({ outcome: 'processed' });
  });

  /** The members of a job that tell its event. */
  function otherJob(): object {
    const event = eventOf('a');
    return { id: event.id, rawBody: Buffer.from(JSON.stringify(event)).toString('base64') };
  }

  test('parksBusyKey must be true or false', async () => {
    const { job, worker } = await openJob();
    const options: object = { attempt: 1, final: true, parksBusyKey: 1 };
    const refusal = Promise.resolve(Reflect.apply(worker.dispatch, worker, [job, options]));
    await expect(refusal).rejects.toThrow(/parksBusyKey of dispatch\(\).*must be true or false, got 1/);
  });
});

test('deliver hands two events of a key over, which are handled one after the other', async () => {
  const held = new HeldHandler();
  const receiver = createReceiver({ signingKey: KEY, store: createMemoryStore() });
  receiver.on('*', held.handle, byResource).observe(() => {});
  const answers = [eventOf('a'), eventOf('a'), createEvent('transfer.created', { id: 'b' })].map((event) =>
    deliver(receiver, event, { key: KEY }),
  );
  await held.calls.nth(2);
  for (const { succeed } of held.calls.all) succeed();
  (await held.calls.nth(3)).succeed();
  for (const answer of answers) expect(await answer).toHaveProperty('status', 200);
});

test('a busy key is no failure of a delivery that has a retry', async () => {
  const pass = fakeTime();
  const store = createMemoryStore();
  await claimAndDie(store);
  const { reports, send } = openHeld({ store });
  expect(await passUntil(pass, send(eventOf('a')))).toEqual(refused(503, 'key_busy'));
  expect(reports.all).toMatchObject([{ outcome: 'busy', endpointAtRisk: false }]);
});
