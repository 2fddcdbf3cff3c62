import { createMemoryStore, createReceiver, type Store } from 'posthorn';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import {
  accepted,
  type EndpointOptions,
  eventAt,
  on,
  openDirectly,
  refused,
} from '../../support/open-endpoint.ts';
import { usePrintedErrors } from '../../support/printed-errors.ts';
import { KEY } from '../../support/served.ts';
import { MINUTE_MS } from '../../support/step-clock.ts';
import { throwing } from '../../support/throwing.ts';
import { ListQueue } from '../queue/list-queue.ts';

const zod = vi.hoisted(() => ({ failsAt: Number.POSITIVE_INFINITY, calls: 0 }));

/** A library that fails from one of its calls on. */
vi.mock('zod/mini', async (original) => {
  const library = await original<typeof import('zod/mini')>();
  const validate: typeof library.validate = (schema, value): value is never => {
    zod.calls += 1;
    if (zod.calls > zod.failsAt) throw new TypeError('z.validate is not a function');
    return library.validate(schema, value);
  };
  return { ...library, validate };
});

afterEach(() => {
  zod.failsAt = Number.POSITIVE_INFINITY;
});

const old = () => eventAt(Date.now() - 15 * MINUTE_MS);
const memory = createMemoryStore();
const claim = async (request: Parameters<Store['claim']>[0]) =>
  JSON.parse(JSON.stringify({ ...(await memory.claim(request)), handled: null }));

describe.each<[string, EndpointOptions, number]>([
  ['the envelope is checked', {}, 0],
  ['the time is checked', {}, 1],
  ['the age is read', {}, 2],
  ['the store answers oddly', { store: { ...memory, claim } }, Number.POSITIVE_INFINITY],
])('an error inside posthorn while %s', (_, options, failsAt) => {
  const log = usePrintedErrors();
  const open = (more: EndpointOptions) => {
    zod.calls = 0;
    zod.failsAt = failsAt;
    return openDirectly({ ...options, ...more });
  };

  test('parks a last attempt, and no other', async () => {
    const letters = new Map();
    const { send } = open({ deadLetters: createMapDeadLetters(letters) });
    expect(await send(eventAt(Date.now()))).toEqual(refused(500, 'internal_error'));
    expect(letters.size).toBe(0);
    zod.calls = 0;
    const event = old();
    expect(await send(event)).toEqual(accepted('parked', event.id));
    expect([...letters.values()]).toMatchObject([{ id: event.id, reason: 'internal_error' }]);
  });

  test('puts the endpoint at risk without letters, and the log names the cause', async () => {
    open({});
    const unobserved = createReceiver({ signingKey: KEY, ...options }).on('*', () => {});
    expect(await unobserved.receive(deliveryOf(old()))).toMatchObject({ status: 500 });
    const cause = failsAt === Number.POSITIVE_INFINITY ? /handled|iterable/ : /z\.validate is not a function/;
    expect(log.printed().join()).toMatch(/ENDPOINT AT RISK internal_error: the receiver failed: /);
    expect(log.printed().join()).toMatch(cause);
  });

  test('never parks a delivery that was not authenticated', async () => {
    const letters = new Map();
    const { receiver } = open({ deadLetters: createMapDeadLetters(letters) });
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
  zod.failsAt = 0;
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
  // The job itself is read.
  zod.failsAt = zod.calls + 1;
  expect(await receiver.dispatch(queue.take(), { attempt: 3, final })).toMatchObject({
    outcome: final ? 'parked' : 'failed',
    code: 'internal_error',
    event: { id: event.id },
  });
  expect([...letters.keys()]).toEqual(final ? [event.id] : []);
});
