import { PermanentError } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { openEndpoint } from '../support/open-endpoint.ts';
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
