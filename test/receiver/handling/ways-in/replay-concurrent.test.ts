import { setImmediate } from 'node:timers/promises';
import type { DeadLetter, DeadLetters } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { createLetter } from '../../../stores/kit/conformance.ts';
import { deliveryOf } from '../../../support/delivery-of.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import {
  accepted,
  type EndpointOptions,
  eventAt,
  openEndpoint,
  refused,
} from '../../../support/open-endpoint.ts';
import { MINUTE_MS } from '../../../support/step-clock.ts';

/** An endpoint with a held handler, and an event of which a letter is at hand. */
async function openWithLetter(minutes: number, options: EndpointOptions) {
  const held = new HeldHandler();
  const endpoint = await openEndpoint(options, (receiver) => receiver.on('transfer.*', held.handle));
  const event = eventAt(Date.now() - minutes * MINUTE_MS);
  const letter: DeadLetter = createLetter({
    id: event.id,
    rawBody: Buffer.from(JSON.stringify(event)),
    handled: [],
    runningUntil: undefined,
  });
  return { ...endpoint, event, held, letter };
}

describe('a replay by a receiver without dead letters', () => {
  test('that fails is a failure, and puts no endpoint at risk', async () => {
    const { held, letter, receiver } = await openWithLetter(15, {});
    const replayed = receiver.replay(letter);
    (await held.calls.nth(1)).fail(new Error('poison'));
    expect(await replayed).toMatchObject({
      outcome: 'failed',
      status: 500,
      code: 'handler_failed',
      final: true,
      endpointAtRisk: false,
    });
  });

  test('that joins the run of a delivery has no letter to take out, and warns of none', async () => {
    const { event, held, letter, receiver, reports, send } = await openWithLetter(0, {});
    const first = send(event);
    const call = await held.calls.nth(1);
    const replayed = receiver.replay(letter);
    call.succeed();
    expect(await first).toEqual(accepted('processed', event.id));
    expect(await replayed).toMatchObject({ outcome: 'duplicate', status: 200 });
    expect(reports.all.flatMap(({ warnings }) => warnings)).toEqual([
      expect.stringMatching(/^dead_letters_missing: /),
    ]);
  });

  test('does not park the delivery that joins it: busy at the deadline', async () => {
    const { event, held, letter, receiver, reports, send } = await openWithLetter(15, { deadlineMs: 200 });
    const replayed = receiver.replay(letter);
    const call = await held.calls.nth(1);
    expect(await send(event)).toEqual(refused(503, 'event_running'));
    expect(reports.all).toMatchObject([{ outcome: 'busy', endpointAtRisk: true }]);
    call.fail(new Error('poison'));
    expect(await replayed).toMatchObject({ outcome: 'failed', endpointAtRisk: false });
    expect(held.calls.all).toHaveLength(1);
  });

  test('does not park the delivery that joins it: failed as the replay is', async () => {
    const { event, held, letter, receiver, reports } = await openWithLetter(15, {});
    const replayed = receiver.replay(letter);
    const call = await held.calls.nth(1);
    const joined = receiver.receive(deliveryOf(event));
    // Without a socket nothing but promises lies between the delivery and its joining the run.
    await setImmediate();
    call.fail(new Error('poison'));
    expect(await joined).toMatchObject({ status: 500 });
    expect(await replayed).toMatchObject({ outcome: 'failed', endpointAtRisk: false });
    expect(reports.all.map(({ endpointAtRisk }) => endpointAtRisk).sort()).toEqual([false, true]);
    expect(held.calls.all).toHaveLength(1);
  });
});

describe('a replay that joins the run of a delivery', () => {
  async function openJoined(deadLetters: DeadLetters, minutes = 0) {
    const opened = await openWithLetter(minutes, { deadLetters });
    await deadLetters.put(opened.letter);
    const first = opened.send(opened.event);
    const call = await opened.held.calls.nth(1);
    return { ...opened, call, first, replayed: opened.receiver.replay(opened.letter) };
  }

  test('which succeeds is a duplicate, and takes its letter out', async () => {
    const deadLetters = createMapDeadLetters();
    const { call, event, first, held, replayed } = await openJoined(deadLetters);
    call.succeed();
    expect(await first).toEqual(accepted('processed', event.id));
    expect(await replayed).toMatchObject({ outcome: 'duplicate', status: 200, handlers: [], warnings: [] });
    expect(await deadLetters.get(event.id)).toBeUndefined();
    expect(held.calls.all).toHaveLength(1);
  });

  test('and cannot take its letter out says so, and is a duplicate all the same', async () => {
    const remove = () => Promise.reject(new Error('EIO'));
    const { call, first, replayed } = await openJoined({ ...createMapDeadLetters(), remove });
    call.succeed();
    await first;
    expect(await replayed).toMatchObject({
      outcome: 'duplicate',
      status: 200,
      warnings: [expect.stringMatching(/^dead_letter_not_removed: /)],
    });
  });

  test.for([
    ['fails leaves the letter', 0, 'failed', {}],
    ['parks its event as a last attempt leaves that letter', 15, 'parked', { reason: 'handler_failed' }],
  ] as const)('which %s', async ([, minutes, outcome, parked]) => {
    const deadLetters = createMapDeadLetters();
    const { call, event, first, letter, replayed } = await openJoined(deadLetters, minutes);
    call.fail(new Error('poison'));
    const isParked = outcome === 'parked';
    expect(await first).toEqual(isParked ? accepted(outcome, event.id) : refused(500, 'handler_failed'));
    expect(await replayed).toMatchObject({ outcome, code: 'handler_failed', endpointAtRisk: false });
    expect(await deadLetters.get(event.id)).toMatchObject(isParked ? parked : letter);
  });
});
