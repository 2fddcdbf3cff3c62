import { createMemoryStore, createReceiver, type Store } from 'posthorn';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { envelope } from '../../../../src/providers/banking-service/envelope.ts';
import { deliveryOf } from '../../../support/delivery-of.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import {
  accepted,
  type EndpointOptions,
  eventAt,
  on,
  openDirectly,
  refused,
} from '../../../support/open-endpoint.ts';
import { usePrintedErrors } from '../../../support/printed-errors.ts';
import { KEY } from '../../../support/served.ts';
import { MINUTE_MS } from '../../../support/step-clock.ts';
import { throwing } from '../../../support/throwing.ts';
import { ListQueue } from '../../queue/list-queue.ts';

const fail = throwing(new TypeError('the library failed'));
/** A library of schemas that fails, until the test is over. */
const breakEnvelope = () => void vi.spyOn(envelope.shape.created_at._zod, 'run').mockImplementation(fail);
afterEach(() => void vi.restoreAllMocks());

const old = () => eventAt(Date.now() - 15 * MINUTE_MS);
const memory = createMemoryStore();
const claim = async (request: Parameters<Store['claim']>[0]) =>
  JSON.parse(JSON.stringify({ ...(await memory.claim(request)), handled: null }));

describe.each<[string, EndpointOptions, () => void, RegExp]>([
  ['the envelope is checked', {}, breakEnvelope, /the library failed/],
  ['the time is read', {}, () => vi.spyOn(Date, 'parse').mockImplementationOnce(fail), /the library failed/],
  ['the store answers oddly', { store: { ...memory, claim } }, () => {}, /iterable/],
])('an error inside posthorn while %s', (_, options, injectFault, cause) => {
  const log = usePrintedErrors();

  test('parks a last attempt, and no other', async () => {
    const letters = new Map();
    const { send } = openDirectly({ ...options, deadLetters: createMapDeadLetters(letters) });
    injectFault();
    expect(await send(eventAt(Date.now()))).toEqual(refused(500, 'internal_error'));
    expect(letters.size).toBe(0);
    const event = old();
    injectFault();
    expect(await send(event)).toEqual(accepted('parked', event.id));
    expect([...letters.values()]).toMatchObject([{ id: event.id, reason: 'internal_error' }]);
  });

  test('puts the endpoint at risk without letters, and the log names the cause', async () => {
    injectFault();
    const unobserved = createReceiver({ signingKey: KEY, ...options }).on('*', () => {});
    expect(await unobserved.receive(deliveryOf(old()))).toMatchObject({ status: 500 });
    expect(log.printed().join()).toMatch(/ENDPOINT AT RISK internal_error: the receiver failed: /);
    expect(log.printed().join()).toMatch(cause);
  });

  test('never parks a delivery that was not authenticated', async () => {
    const letters = new Map();
    const { receiver } = openDirectly({ ...options, deadLetters: createMapDeadLetters(letters) });
    injectFault();
    const delivery = deliveryOf(old(), { 'x-service-signature': ['0'.repeat(64)] });
    expect(await receiver.receive(delivery)).toMatchObject({ status: 403 });
    const fails = { ...deliveryOf(old()), readBody: throwing('EPIPE') };
    expect(await receiver.receive(fails)).toMatchObject({ status: 500 });
    expect(letters.size).toBe(0);
  });
});

test('an event of which nothing can be read counts as a last attempt', async () => {
  const letters = new Map();
  const { send } = openDirectly({ deadLetters: createMapDeadLetters(letters) });
  breakEnvelope();
  expect(await send({ id: '\ud800' })).toMatchObject({ status: 200, body: { outcome: 'parked' } });
  expect([...letters.values()]).toMatchObject([{ type: undefined, reason: 'internal_error' }]);
});

test.each([false, true])('an error inside posthorn in a worker parks a last attempt: %s', async (final) => {
  const letters = new Map();
  const queue = new ListQueue();
  const options = { queue, deadLetters: createMapDeadLetters(letters) };
  const { receiver, send } = openDirectly(
    options,
    on('*', () => {}, { name: 'book', queue: true }),
  );
  const event = eventAt(Date.now());
  expect(await send(event)).toMatchObject({ status: 202 });
  breakEnvelope();
  expect(await receiver.dispatch(queue.take(), { attempt: 3, final })).toMatchObject({
    outcome: final ? 'parked' : 'failed',
    code: 'internal_error',
    event: { id: event.id },
  });
  expect([...letters.keys()]).toEqual(final ? [event.id] : []);
});
