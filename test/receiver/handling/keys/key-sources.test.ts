import { createMemoryStore, createReceiver, type EventData, type HandlerContext } from 'posthorn';
import { deliver } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { fakeTime, passUntil } from '../../../support/fake-time.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { letterOf } from '../../../support/letter-of.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import { accepted, type EndpointOptions, refused } from '../../../support/open-endpoint.ts';
import { Seen } from '../../../support/seen.ts';
import { KEY } from '../../../support/served.ts';
import { MINUTE_MS } from '../../../support/step-clock.ts';
import {
  byResource,
  claimAndDie,
  eventOf,
  KEY_A,
  nextTurns,
  openHeld,
  recordingStore,
} from './keyed-events.ts';

/** A dead letter of an event whose key was busy, and the store, in which the key is busy for a minute. */
async function openParked(options: EndpointOptions = {}) {
  const pass = fakeTime();
  const deadLetters = createMapDeadLetters();
  const { store, claims, releases } = recordingStore();
  await claimAndDie(store);
  const opened = openHeld({ store, deadLetters, ...options });
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

  test('needs no permit once it has its key', async () => {
    const { pass, event, held, letter, receiver, send } = await openParked({ maxRunning: 1 });
    // The key is free after 60 seconds.
    await pass(30_000);
    const other = send(eventOf('b'));
    const ofOther = await passUntil(pass, held.calls.nth(1));
    const replayed = receiver.replay(letter);
    (await passUntil(pass, held.calls.nth(2))).succeed();
    expect(await passUntil(pass, replayed)).toMatchObject({ outcome: 'processed', event: { id: event.id } });
    ofOther.succeed();
    expect(await passUntil(pass, other)).toHaveProperty('status', 200);
  });

  test('parks its event again if the key stays busy', async () => {
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

test('deliver hands two events of a key over, which are handled one after the other', async () => {
  const held = new HeldHandler();
  const ran = new Seen<unknown>();
  const receiver = createReceiver({ signingKey: KEY, store: createMemoryStore() });
  const handle = (event: { readonly data: EventData }, context: HandlerContext): Promise<void> => {
    ran.add(event.data.id);
    return held.handle(event, context);
  };
  receiver.on('*', handle, byResource).observe(() => {});
  const answers = ['a', 'a', 'b'].map((id) => deliver(receiver, eventOf(id), { key: KEY }));
  await ran.first((id) => id === 'b');
  await nextTurns();
  expect(ran.all).toEqual(['a', 'b']);
  for (const { succeed } of held.calls.all) succeed();
  (await held.calls.nth(3)).succeed();
  expect(ran.all).toEqual(['a', 'b', 'a']);
  for (const answer of answers) expect(await answer).toHaveProperty('status', 200);
});

test('a busy key is not a failure of a delivery that has a retry', async () => {
  const pass = fakeTime();
  const store = createMemoryStore();
  await claimAndDie(store);
  const { reports, send } = openHeld({ store });
  expect(await passUntil(pass, send(eventOf('a')))).toEqual(refused(503, 'key_busy'));
  expect(reports.all).toMatchObject([{ outcome: 'busy', endpointAtRisk: false }]);
});
