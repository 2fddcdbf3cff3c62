import { createHash } from 'node:crypto';
import { PermanentError, type Receiver } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { flowingTime } from '../../support/fake-time.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { accepted, eventAt, on, refused } from '../../support/open-endpoint.ts';
import { MINUTE_MS, stepClocked } from '../../support/step-clock.ts';
import { throwing } from '../../support/throwing.ts';
import { openJournaled, openJournaledDirectly } from './journaled.ts';

const event = createEvent('transfer.succeeded');

/** A handler that fails until it is told otherwise. */
function failing(error: Error = new Error('no mail server')) {
  const state: { error: Error | undefined } = { error };
  const register = (receiver: Receiver): void =>
    void receiver.on(
      '*',
      () => {
        if (state.error !== undefined) throw state.error;
      },
      { name: 'mail' },
    );
  return { state, register };
}

function sha256(body: string): string {
  return createHash('sha256').update(body).digest('hex');
}

test('a processed event has all that is known of it, without credentials', async () => {
  const { onlyEntry, send } = await openJournaled(
    {},
    on('*', () => {}, { name: 'book' }),
  );
  const secrets = { authorization: 'Basic c2VjcmV0', 'proxy-authorization': 'Basic eA', cookie: 'session=1' };
  const before = Date.now();
  expect(await send(event, secrets)).toEqual(accepted('processed', event.id));
  const { decidedAt, finality, firstReceivedAt, headers, rawBody, ...entry } = await onlyEntry();
  expect(entry).toEqual({
    id: event.id,
    type: 'transfer.succeeded',
    provider: 'banking-service',
    createdAt: Date.parse(event.created_at),
    lastReceivedAt: firstReceivedAt,
    deliveries: 1,
    attempts: 1,
    outcome: 'processed',
    handled: ['book'],
    resource: event.data.id,
  });
  expect(JSON.parse(Buffer.from(rawBody ?? []).toString())).toEqual(event);
  expect(entry?.key).toBeUndefined();
  expect(firstReceivedAt).toBeGreaterThanOrEqual(before);
  expect(firstReceivedAt).toBeLessThanOrEqual(Date.now());
  expect(headers).toMatchObject({ 'x-service-signature': [expect.stringMatching(/^[0-9a-f]{64}$/)] });
  for (const name of Object.keys(secrets)) expect(headers).not.toHaveProperty(name);
});

test('the bodies of the sender are kept to the byte', async () => {
  const { onlyEntry, send } = await openJournaled();
  const body = ` ${JSON.stringify(event)}\n `;
  expect(await send(body)).toEqual(accepted('processed', event.id));
  expect(Buffer.from((await onlyEntry()).rawBody ?? []).toString()).toBe(body);
});

test('a retry makes a failed event processed, and its times are those of the first and the last delivery', async () => {
  const { clock, store } = stepClocked();
  const { register, state } = failing();
  const { onlyEntry, send } = openJournaledDirectly({ now: clock.now, store }, register);
  const dated = eventAt(clock.startedAt);
  expect(await send(dated)).toEqual(refused(500, 'handler_failed'));
  clock.moveTo(MINUTE_MS);
  state.error = undefined;
  expect(await send(dated)).toEqual(accepted('processed', dated.id));
  expect(await onlyEntry()).toMatchObject({
    outcome: 'processed',
    code: undefined,
    attempts: 2,
    deliveries: 2,
    handled: ['mail'],
    firstReceivedAt: clock.startedAt,
    lastReceivedAt: clock.startedAt + MINUTE_MS,
  });
});

test('a failed event has the code, and the names of the handlers that have finished', async () => {
  const { onlyEntry, send } = await openJournaled({}, (receiver) =>
    receiver.on('*', () => {}, { name: 'book' }).on('*', throwing('no mail server'), { name: 'mail' }),
  );
  expect(await send(event)).toEqual(refused(500, 'handler_failed'));
  expect(await onlyEntry()).toMatchObject({ outcome: 'failed', code: 'handler_failed', handled: ['book'] });
});

describe('a parked event', () => {
  test.each([
    [
      'by its last attempt',
      eventAt(Date.now() - 20 * MINUTE_MS),
      new Error('no mail server'),
      'handler_failed',
    ],
    ['by a PermanentError', event, new PermanentError('no amount'), 'handler_failed_permanently'],
  ])('%s', async (_title, sent, error, code) => {
    const { register } = failing(error);
    const { onlyEntry, send } = await openJournaled({ deadLetters: createMapDeadLetters() }, register);
    expect(await send(sent)).toEqual(accepted('parked', sent.id));
    expect(await onlyEntry()).toMatchObject({
      id: sent.id,
      outcome: 'parked',
      code,
      attempts: 1,
      deliveries: 1,
    });
  });

  test('is processed after its replay, which counts neither as a delivery nor as its time', async () => {
    const { clock, deadLetters, store } = stepClocked();
    const { register, state } = failing(new PermanentError('no amount'));
    const options = { now: clock.now, store, deadLetters };
    const { onlyEntry, receiver, send } = openJournaledDirectly(options, register);
    const dated = eventAt(clock.startedAt);
    expect(await send(dated)).toEqual(accepted('parked', dated.id));
    clock.moveTo(MINUTE_MS);
    for (const error of [new Error('no mail server'), undefined]) {
      state.error = error;
      const letter = await deadLetters.get(dated.id);
      if (letter === undefined) throw new Error('the event has no dead letter');
      await receiver.replay(letter);
    }
    expect(await onlyEntry()).toMatchObject({
      outcome: 'processed',
      deliveries: 1,
      attempts: 3,
      lastReceivedAt: clock.startedAt,
    });
  });

  test('stays parked if its replay fails', async () => {
    const deadLetters = createMapDeadLetters();
    const { register, state } = failing(new PermanentError('no amount'));
    const { onlyEntry, receiver, send } = await openJournaled({ deadLetters }, register);
    expect(await send(event)).toEqual(accepted('parked', event.id));
    const letter = await deadLetters.get(event.id);
    if (letter === undefined) throw new Error('the event has no dead letter');
    state.error = new Error('no mail server');
    await receiver.replay(letter);
    expect(await onlyEntry()).toMatchObject({ outcome: 'parked', attempts: 2 });
  });
});

const TOO_OLD = eventAt(Date.now() - 48 * 60 * MINUTE_MS);
const WITHOUT_ID = '{"type":"transfer.succeeded"}';

describe('a genuine event that is refused', () => {
  test.each([
    ['as too old', JSON.stringify(TOO_OLD), 'event_too_old', { id: TOO_OLD.id, type: 'transfer.succeeded' }],
    ['without an id', WITHOUT_ID, 'envelope_invalid', { id: sha256(WITHOUT_ID) }],
    ['as not JSON', 'not JSON', 'body_not_json', { id: sha256('not JSON'), type: undefined }],
  ])('%s leaves an entry, with and without dead letters', async (_title, body, code, named) => {
    const expected = { ...named, code, deliveries: 1, attempts: 0, handled: [] };
    const parking = await openJournaled({ deadLetters: createMapDeadLetters() });
    expect(await parking.send(body)).toEqual(accepted('parked', named.id));
    const parked = await parking.onlyEntry();
    expect(parked).toMatchObject({ ...expected, outcome: 'parked' });
    expect(Buffer.from(parked.rawBody ?? []).toString()).toBe(body);
    const refusing = await openJournaled();
    expect(await refusing.send(body)).toEqual(refused(400, code));
    const rejected = await refusing.onlyEntry();
    expect(rejected).toMatchObject({ ...expected, outcome: 'rejected' });
    expect(Buffer.from(rejected.rawBody ?? []).toString()).toBe(body);
  });
});

test('an event without a handler is ignored, and has its body', async () => {
  const { onlyEntry, send } = await openJournaled(
    {},
    on('dispute.*', () => {}),
  );
  expect(await send(event)).toEqual(accepted('ignored', event.id));
  expect(await onlyEntry()).toMatchObject({
    outcome: 'ignored',
    code: undefined,
    attempts: 0,
    rawBody: expect.any(Uint8Array),
  });
});

test('an event that was refused while a process closed is ignored once another one ignores it', async () => {
  flowingTime();
  const first = openJournaledDirectly(
    {},
    on('dispute.*', () => {}),
  );
  await first.receiver.close();
  expect(await first.send(event)).toEqual(refused(503, 'closing'));
  await first.batches.nth(1);
  expect(first.records.get(event.id)).toMatchObject({ outcome: 'failed', code: 'closing' });
  const aMinuteLater = () => Date.now() + MINUTE_MS;
  const next = openJournaledDirectly(
    { journal: first.journal, now: aMinuteLater },
    on('dispute.*', () => {}),
  );
  expect(await next.send(event)).toEqual(accepted('ignored', event.id));
  await next.receiver.close();
  expect(first.records.get(event.id)).toMatchObject({ outcome: 'ignored', code: undefined, deliveries: 2 });
});

test('an old recording of an ignored event does not change what became of it', async () => {
  const { clock, store } = stepClocked();
  const { onlyEntry, send } = openJournaledDirectly(
    { now: clock.now, store },
    on('dispute.*', () => {}),
  );
  const dated = eventAt(clock.startedAt);
  expect(await send(dated)).toEqual(accepted('ignored', dated.id));
  clock.moveTo(48 * 60 * MINUTE_MS);
  expect(await send(dated)).toEqual(refused(400, 'event_too_old'));
  expect(await onlyEntry()).toMatchObject({ outcome: 'ignored', code: undefined, deliveries: 2 });
});

test('handlers that end after the deadline make a failed event processed, and do not count as a delivery', async () => {
  flowingTime();
  const held = new HeldHandler();
  const { batches, onlyEntry, records, reports, send } = openJournaledDirectly(
    {},
    on('*', held.handle, { name: 'slow' }),
  );
  expect(await send(event)).toEqual(refused(503, 'deadline_reached'));
  await batches.nth(1);
  expect(records.get(event.id)).toMatchObject({ outcome: 'failed', code: 'deadline_reached', attempts: 1 });
  (await held.calls.nth(1)).succeed();
  await reports.first(({ late }) => late);
  expect(await onlyEntry()).toMatchObject({
    outcome: 'processed',
    code: undefined,
    deliveries: 1,
    attempts: 1,
    handled: ['slow'],
  });
});
