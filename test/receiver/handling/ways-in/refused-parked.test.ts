import { createHash } from 'node:crypto';
import { createMemoryStore, PermanentError, type Store } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { fakeTime, passUntil } from '../../../support/fake-time.ts';
import { letterOf } from '../../../support/letter-of.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import {
  accepted,
  type EndpointOptions,
  eventAt,
  openDirectly,
  openEndpoint,
  refused,
} from '../../../support/open-endpoint.ts';
import { readAll } from '../../../support/read-all.ts';
import { MINUTE_MS, StepClock } from '../../../support/step-clock.ts';
import { throwing } from '../../../support/throwing.ts';
import { unanswered } from '../../../support/unanswered.ts';

const clock = new StepClock();
const DAY_MS = 86_400_000;
const valid = { ...eventAt(clock.now()), id: 'evt_readable' };

const open = (options: EndpointOptions, handlers = 1) =>
  openEndpoint({ now: clock.now, ...options }, (receiver) => {
    if (handlers === 0) return;
    receiver.on('transfer.*', throwing(new PermanentError('no handler may see this event')));
  });

interface Unreadable {
  readonly name: string;
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly code: string;
  /** The event's, where it can be read. */
  readonly id?: string;
}

const text = (members: object): string => JSON.stringify({ ...valid, ...members });
const unreadable: readonly Unreadable[] = [
  { name: 'no JSON', body: '{"id":"evt_readable"', code: 'body_not_json' },
  { name: 'empty', body: '', code: 'body_not_json' },
  { name: 'no UTF-8', body: Uint8Array.of(0x22, 0xff, 0x22), code: 'body_not_json' },
  { name: 'a list', body: '[]', code: 'envelope_invalid' },
  { name: 'without an id', body: text({ id: undefined }), code: 'envelope_invalid' },
  { name: 'with a number as id', body: text({ id: 7 }), code: 'envelope_invalid' },
  { name: 'without data', body: text({ data: undefined }), code: 'envelope_invalid', id: valid.id },
  { name: 'without a type', body: text({ type: undefined }), code: 'envelope_invalid', id: valid.id },
  {
    name: 'too old',
    body: text({ created_at: new Date(clock.now() - DAY_MS - 1).toISOString() }),
    code: 'event_too_old',
    id: valid.id,
  },
  {
    name: 'in the future',
    body: text({ created_at: new Date(clock.now() + 5 * MINUTE_MS + 1).toISOString() }),
    code: 'event_in_future',
    id: valid.id,
  },
];

describe.each(unreadable)('an authentic body that is $name', ({ body, code, id }) => {
  test('is parked with dead letters', async () => {
    const deadLetters = createMapDeadLetters();
    const { reports, send } = await open({ deadLetters });
    const parkedAs = id ?? createHash('sha256').update(body).digest('hex');
    expect(await send(body)).toEqual(accepted('parked', parkedAs));
    const letters = await readAll(deadLetters.list());
    expect(letters).toMatchObject([{ id: parkedAs, reason: code, attempts: 0, handled: [] }]);
    expect(letters[0]?.runningUntil).toBeUndefined();
    expect(Buffer.compare(letters[0]?.rawBody ?? Buffer.alloc(0), Buffer.from(body))).toBe(0);
    expect(reports.all).toMatchObject([{ outcome: 'parked', status: 200, code, handlers: [] }]);
  });

  test('is refused without', async () => {
    const { send } = await open({});
    expect(await send(body)).toEqual(refused(400, code));
  });

  test('is not parked without a signature', async () => {
    const deadLetters = createMapDeadLetters();
    const { send } = await open({ deadLetters });
    expect(await send(body, { 'x-service-signature': '0'.repeat(64) })).toEqual(
      refused(403, 'signature_mismatch'),
    );
    expect(await readAll(deadLetters.list())).toEqual([]);
  });
});

test('an event that is refused for its age by the last retry leaves the endpoint at risk', async () => {
  const { reports, send } = await open({});
  const old = text({ created_at: new Date(clock.now() - DAY_MS - 1).toISOString() });
  expect(await send(old)).toEqual(refused(400, 'event_too_old'));
  expect(reports.all).toMatchObject([{ outcome: 'rejected', endpointAtRisk: true }]);
});

describe.each([
  { name: 'that is closing', code: 'closing', handlers: 1 },
  { name: 'without handlers', code: 'no_handlers', handlers: 0 },
])('a receiver $name', ({ code, handlers }) => {
  const last = { ...valid, created_at: new Date(clock.now() - 15 * MINUTE_MS).toISOString() };

  async function openRefusing(options: EndpointOptions) {
    const endpoint = await open(options, handlers);
    if (code === 'closing') await endpoint.receiver.close();
    return endpoint;
  }

  test('parks an event at its last attempt', async () => {
    const deadLetters = createMapDeadLetters();
    const { reports, send } = await openRefusing({ deadLetters });
    expect(await send(last)).toEqual(accepted('parked', last.id));
    expect(await readAll(deadLetters.list())).toMatchObject([{ id: last.id, reason: code, attempts: 0 }]);
    expect(reports.all).toMatchObject([{ outcome: 'parked', code, endpointAtRisk: false }]);
  });

  test('parks what was received, whatever members of the same names the event has', async () => {
    const deadLetters = createMapDeadLetters();
    const { send } = await openRefusing({ deadLetters });
    const odd = { rawBody: 'forged', headers: { 'x-forged': ['1'] }, receivedAt: 'never', handled: ['book'] };
    const body = JSON.stringify({ ...last, ...odd });
    expect(await send(body)).toEqual(accepted('parked', last.id));
    const letter = await letterOf(deadLetters, last.id);
    expect(Buffer.from(letter.rawBody).toString()).toBe(body);
    expect(letter.headers).toHaveProperty('x-service-signature');
    expect(letter.headers).not.toHaveProperty('x-forged');
    expect(letter).toMatchObject({ receivedAt: clock.now(), handled: [], type: last.type });
  });

  test('refuses it before, for the service to try again', async () => {
    const deadLetters = createMapDeadLetters();
    const { reports, send } = await openRefusing({ deadLetters });
    expect(await send(valid)).toEqual(refused(503, code));
    expect(await readAll(deadLetters.list())).toEqual([]);
    expect(reports.all).toMatchObject([{ outcome: 'failed', code, endpointAtRisk: false }]);
  });

  test('refuses it at the last attempt without dead letters, and the endpoint is at risk', async () => {
    const { reports, send } = await openRefusing({});
    expect(await send(last)).toEqual(refused(503, code));
    expect(reports.all).toMatchObject([{ outcome: 'failed', code, endpointAtRisk: true }]);
  });
});

describe.each([
  { name: 'too old', stepMs: DAY_MS + 1, code: 'event_too_old' },
  { name: 'in the future', stepMs: -6 * MINUTE_MS, code: 'event_in_future' },
])('an event that was handled, and comes again when it is $name,', ({ stepMs, code }) => {
  test.each([
    { by: 'with dead letters', deadLetters: createMapDeadLetters(), missed: [200, 'parked'] },
    { by: 'without', deadLetters: undefined, missed: [400, 'rejected'] },
  ])('is a duplicate $by while the store knows it', async ({ deadLetters, missed }) => {
    const ownClock = new StepClock();
    const { reports, send } = await openEndpoint({ now: ownClock.now, deadLetters });
    // In the store such an id has another form.
    const event = { ...eventAt(ownClock.startedAt), id: 'accepted:evt_1' };
    expect(await send(event)).toEqual(accepted('processed', event.id));
    ownClock.step(stepMs);
    expect(await send(event)).toEqual(accepted('duplicate', event.id));
    await send(eventAt(ownClock.startedAt));
    expect(reports.all.slice(1)).toMatchObject([
      { outcome: 'duplicate', status: 200, code: undefined, endpointAtRisk: false },
      { outcome: missed[1], status: missed[0], code },
    ]);
    expect(await deadLetters?.get(event.id)).toBeUndefined();
  });
});

test('an event that was handled here, which the store does not know yet, is a duplicate when it is too old', async () => {
  const complete = () => Promise.reject(new Error('ECONNREFUSED'));
  const store = { ...createMemoryStore(), complete, commandTimeoutMs: 20 };
  const ownClock = new StepClock();
  const { send } = await openEndpoint({ now: ownClock.now, store });
  const event = eventAt(ownClock.startedAt);
  expect(await send(event)).toEqual(accepted('processed', event.id));
  ownClock.step(DAY_MS + 1);
  expect(await send(event)).toEqual(accepted('duplicate', event.id));
});

test.each<{ name: string; peek: Store['peek'] }>([
  { name: 'fails', peek: () => Promise.reject(new Error('ECONNREFUSED')) },
  { name: 'throws', peek: throwing(new Error('no store')) },
  { name: 'does not answer for longer than the sender waits', peek: unanswered },
])('an event that is too old is parked in time if the store that is asked for it $name', async ({ peek }) => {
  const pass = fakeTime();
  const asked: unknown[] = [];
  const memory = createMemoryStore();
  const claims: string[] = [];
  const store: Store = {
    ...memory,
    commandTimeoutMs: 60_000,
    claim: (request) => {
      claims.push(request.id);
      return memory.claim(request);
    },
    peek: (request) => {
      asked.push(request);
      return peek?.(request) ?? expect.fail('no peek');
    },
  };
  const deadLetters = createMapDeadLetters();
  const { reports, send } = openDirectly({ now: clock.now, store, deadLetters });
  const event = eventAt(clock.now() - DAY_MS - 1);
  expect(await passUntil(pass, send(event))).toEqual(accepted('parked', event.id));
  expect(reports.all[0]?.durationMs).toBeLessThan(25_000);
  // Without a connection the store is not waited for.
  expect(asked[0]).toEqual({ id: event.id, waitMs: 0 });
  // The second look finds nothing either, and a claim would be a write.
  await pass(1_000);
  expect([asked.length, claims]).toEqual([2, []]);
});

test('an event that comes again when it is too old is parked by a store without looks, but not for long where it was completed', async () => {
  const ownClock = new StepClock();
  const { peek: _, ...store } = createMemoryStore({ now: ownClock.now });
  const deadLetters = createMapDeadLetters();
  const { send } = await openEndpoint({ now: ownClock.now, store, deadLetters }, (receiver) =>
    receiver.on('transfer.*', () => 'done'),
  );
  // In the store such an id has another form.
  const event = { ...eventAt(ownClock.startedAt), id: 'accepted:evt_1' };
  const missed = eventAt(ownClock.startedAt);
  expect(await send(event)).toEqual(accepted('processed', event.id));
  ownClock.step(DAY_MS + 1);
  expect(await send(missed)).toEqual(accepted('parked', missed.id));
  expect(await send(event)).toEqual(accepted('parked', event.id));
  await expect.poll(() => deadLetters.get(event.id)).toBeUndefined();
  expect(await letterOf(deadLetters, missed.id)).toMatchObject({ reason: 'event_too_old' });
});
