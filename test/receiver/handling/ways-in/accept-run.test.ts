import { createReceiver, defineProvider } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { createService, serviceParts } from '../../../../src/providers/banking-service/service.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import { openDirectly } from '../../../support/open-endpoint.ts';
import { readAll } from '../../../support/read-all.ts';
import { KEY } from '../../../support/served.ts';
import { SOURCE } from './counting.ts';

const event = createEvent('transfer.succeeded');

test('an event whose data the schema refuses is parked', async () => {
  const deadLetters = createMapDeadLetters();
  const schemas = { transfer: z.object({ data_of_tomorrow: z.string() }) };
  const receiver = createReceiver({ signingKey: KEY, deadLetters, schemas }).observe(() => {});
  receiver.on('transfer.*', () => {});
  expect(await receiver.accept(event, SOURCE)).toMatchObject({ outcome: 'parked', code: 'data_invalid' });
  expect(await readAll(deadLetters.list())).toMatchObject([{ id: event.id, reason: 'data_invalid' }]);
});

test('close() waits for the handlers of an accept', async () => {
  const held = new HeldHandler();
  const { receiver } = openDirectly({}, (opened) => opened.on('*', held.handle));
  const accepting = receiver.accept(event, SOURCE);
  const call = await held.calls.nth(1);
  const closing = receiver.close();
  call.succeed();
  expect(await closing).toEqual({ abandoned: [] });
  expect(await accepting).toMatchObject({ outcome: 'processed' });
});

test('an accept that outlasts the grace of close() is parked, and named as abandoned', async () => {
  const deadLetters = createMapDeadLetters();
  const held = new HeldHandler();
  const { receiver } = openDirectly({ deadLetters }, (opened) => opened.on('*', held.handle));
  const accepting = receiver.accept(event, SOURCE);
  await held.calls.nth(1);
  expect(await receiver.close({ graceMs: 0 })).toEqual({ abandoned: [event.id] });
  expect(await accepting).toMatchObject({ outcome: 'parked', code: 'run_closed' });
});

test('a question of the sender is not an event', async () => {
  const service = createService(serviceParts);
  const provider = defineProvider({ ...service, name: 'asks', handshake: () => 'hello' });
  const receiver = createReceiver({ signingKey: KEY, provider })
    .on('*', () => {})
    .observe(() => {});
  expect(await receiver.accept({ type: 'question' }, SOURCE)).toMatchObject({
    outcome: 'rejected',
    code: 'envelope_invalid',
  });
});
