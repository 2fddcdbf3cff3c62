import { createMemoryStore, PermanentError } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { eventAt, openEndpoint } from '../../support/open-endpoint.ts';
import { MINUTE_MS } from '../../support/step-clock.ts';
import { ListQueue } from './list-queue.ts';

test('a job whose worker parked its event, and lost the job before it could end it, leaves no letter', async () => {
  const event = createEvent('transfer.succeeded');
  const deadLetters = createMapDeadLetters();
  const queue = new ListQueue();
  let isBroken = true;
  const { receiver, send } = await openEndpoint({ queue, deadLetters }, (opened) =>
    opened.on(
      'transfer.*',
      () => {
        if (isBroken) throw new PermanentError('no such account');
      },
      { name: 'book', queue: true },
    ),
  );
  await send(event);
  const job = queue.take();
  expect(await receiver.dispatch(job, { attempt: 1, final: false })).toMatchObject({ outcome: 'parked' });
  isBroken = false;
  expect(await receiver.dispatch(job, { attempt: 1, final: false })).toMatchObject({ outcome: 'processed' });
  expect(await deadLetters.get(event.id)).toBeUndefined();
});

test('a job that does not know of the letter of its event removes it all the same if the event was handled', async () => {
  const store = createMemoryStore();
  const deadLetters = createMapDeadLetters();
  const queue = new ListQueue();
  const { receiver, send } = await openEndpoint({ store, queue, deadLetters }, (opened) =>
    opened.on('transfer.*', () => {}, { name: 'book', queue: true }),
  );
  // A last attempt, whose letter is stored before it is enqueued.
  const event = eventAt(Date.now() - 15 * MINUTE_MS);
  expect((await send(event)).status).toBe(202);
  expect(await deadLetters.get(event.id)).toBeDefined();
  // The queue keeps the job of an earlier attempt whose answer was lost.
  const job = Object.assign({}, queue.take(), { isParked: false });
  await store.complete({ id: event.id, token: 'another worker', retentionMs: 3_600_000 });
  expect(await receiver.dispatch(job, { attempt: 1, final: false })).toMatchObject({ outcome: 'duplicate' });
  expect(await deadLetters.get(event.id)).toBeUndefined();
});
