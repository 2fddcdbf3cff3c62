import { createReceiver, type Receiver } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test, vi } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { fakeTimers } from '../../support/fake-time.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { KEY } from '../../support/served.ts';
import { MINUTE_MS, stepClocked } from '../../support/step-clock.ts';

/** The outcome of a delivery, or the code of its refusal. */
async function send(receiver: Receiver, event: object): Promise<unknown> {
  const { body } = await receiver.receive(deliveryOf(event));
  const { outcome, code } = JSON.parse(body);
  return outcome ?? code;
}

function failing(): never {
  throw new Error('poison');
}

describe('a clock that is set back between two attempts takes no last attempt from its letter', () => {
  const schedules = [
    { name: 'delays of 1, 5 and 15 minutes', delays: [0, 1, 5, 15] },
    { name: 'offsets of 1, 5 and 15 minutes', delays: [0, 1, 4, 10] },
  ];
  const setBacks = schedules.flatMap(({ name, delays }) =>
    [2, 3].flatMap((before) => [2, 8, 12].map((minutes) => ({ name, delays, before, minutes }))),
  );

  test.each(setBacks)('$name, set back by $minutes minutes before retry $before', async (row) => {
    const { clock, store, deadLetters } = stepClocked();
    const receiver = createReceiver({ signingKey: KEY, store, deadLetters, now: clock.now });
    receiver.on('*', failing).observe(() => {});
    const event = { ...createEvent('transfer.created'), created_at: new Date(clock.now()).toISOString() };
    let last: unknown;
    for (const [attempt, delay] of row.delays.entries()) {
      clock.step((delay - (attempt === row.before ? row.minutes : 0)) * MINUTE_MS);
      last = await send(receiver, event);
      if (last === 'parked') break;
    }
    expect(last).toBe('parked');
    expect(await deadLetters.get(event.id)).toBeDefined();
  });
});

describe('without a clock of its own, the memory store', () => {
  /** Time goes on, and the system's clock with it. */
  const pass = (minutes: number): void => void vi.advanceTimersByTime(minutes * MINUTE_MS);
  /** The system's clock is moved, and no time passes. */
  const move = (minutes: number): void => void vi.setSystemTime(Date.now() + minutes * MINUTE_MS);

  test('knows how long ago an event came first, though the system clock was set back by the delay of a retry', async () => {
    fakeTimers({ toFake: ['performance', 'Date'] });
    const receiver = createReceiver({ signingKey: KEY, deadLetters: createMapDeadLetters() });
    receiver.on('*', failing).observe(() => {});
    const event = createEvent('transfer.created');
    const outcomes = [await send(receiver, event)];
    pass(1);
    outcomes.push(await send(receiver, event));
    pass(4);
    move(-4);
    outcomes.push(await send(receiver, event));
    pass(10);
    outcomes.push(await send(receiver, event));
    expect(outcomes).toEqual(['handler_failed', 'handler_failed', 'handler_failed', 'parked']);
  });

  test('remembers a completed id while the system clock goes forwards by 30 hours and back', async () => {
    fakeTimers({ toFake: ['performance', 'Date'] });
    const handled: string[] = [];
    const receiver = createReceiver({ signingKey: KEY, deadLetters: createMapDeadLetters() });
    receiver.on('*', ({ id }) => void handled.push(id)).observe(() => {});
    const [event, missed] = [createEvent('transfer.created'), createEvent('transfer.created')];
    expect(await send(receiver, event)).toBe('processed');
    move(30 * 60);
    expect(await send(receiver, missed), 'too old by this clock').toBe('parked');
    expect(await send(receiver, event)).toBe('duplicate');
    move(-30 * 60);
    expect(await send(receiver, event)).toBe('duplicate');
    expect(handled).toEqual([event.id]);
  });
});
