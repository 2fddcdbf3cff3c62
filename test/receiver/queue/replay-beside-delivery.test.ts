import { PermanentError, type Receiver } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { HeldHandler } from '../../support/held-handler.ts';
import { letterOf } from '../../support/letter-of.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { accepted, openEndpoint } from '../../support/open-endpoint.ts';
import { ListQueue } from './list-queue.ts';

const event = createEvent('transfer.succeeded');

/** An endpoint with a handler that runs before the answer and one for workers, and the letter of an event. */
async function openWithLetter() {
  const held = new HeldHandler();
  const state = { isBroken: true };
  const mail = (...args: Parameters<typeof held.handle>): Promise<void> => {
    if (state.isBroken) throw new PermanentError('no such address');
    return held.handle(...args);
  };
  const deadLetters = createMapDeadLetters();
  const endpoint = await openEndpoint({ queue: new ListQueue(), deadLetters }, (receiver: Receiver) =>
    receiver
      .on('transfer.*', mail, { name: 'mail' })
      .on('transfer.*', () => {}, { name: 'book', queue: true }),
  );
  await endpoint.send(event);
  state.isBroken = false;
  const letter = await letterOf(deadLetters, event.id);
  return { ...endpoint, held, letter, state };
}

test('a replay keeps a duplicate from running the handlers before its answer', async () => {
  const { held, letter, receiver, send } = await openWithLetter();
  const replayed = receiver.replay(letter);
  const replay = await held.calls.nth(1);
  const duplicate = send(event);
  await expect.poll(async () => (await receiver.health()).running).toBe(2);
  replay.succeed();
  expect(await replayed).toMatchObject({ outcome: 'processed' });
  expect(await duplicate).toEqual(accepted('duplicate', event.id));
  expect(held.calls.all).toHaveLength(1);
});

test('a delivery keeps a replay from running the handlers before its answer', async () => {
  const { held, letter, receiver, send } = await openWithLetter();
  const sent = send(event);
  const delivery = await held.calls.nth(1);
  expect(await receiver.replay(letter)).toMatchObject({ outcome: 'busy', code: 'event_running' });
  delivery.succeed();
  expect((await sent).status).toBe(202);
});

test('a second replay in the same process joins the first one', async () => {
  const { held, letter, receiver } = await openWithLetter();
  const first = receiver.replay(letter);
  const call = await held.calls.nth(1);
  const second = receiver.replay(letter);
  call.succeed();
  expect(await first).toMatchObject({ outcome: 'processed' });
  expect(await second).toMatchObject({ outcome: 'duplicate' });
  expect(held.calls.all).toHaveLength(1);
});

test('a replay that is parked again leaves the handlers before the answer to a delivery', async () => {
  const { held, letter, receiver, send, state } = await openWithLetter();
  state.isBroken = true;
  expect(await receiver.replay(letter)).toMatchObject({ outcome: 'parked' });
  state.isBroken = false;
  const sent = send(event);
  (await held.calls.nth(1)).succeed();
  expect((await sent).status).toBe(202);
});
