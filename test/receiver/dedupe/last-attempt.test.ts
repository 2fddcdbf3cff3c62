import { createMemoryStore, type HandlerContext } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import {
  type Answer,
  accepted,
  type Endpoint,
  type EndpointOptions,
  eventAt,
  openEndpoint,
  refused,
} from '../../support/open-endpoint.ts';
import { readAll } from '../../support/read-all.ts';
import { MINUTE_MS, StepClock, stepClocked } from '../../support/step-clock.ts';

interface Poisoned extends Endpoint {
  readonly clock: StepClock;
  readonly contexts: readonly HandlerContext[];
  /** Sends the event at each of the offsets, in minutes after the clock's start. */
  readonly sendAt: (offsets: readonly number[]) => Promise<Answer[]>;
}

/**
 * An endpoint whose only handler throws, and one event, created at the start of the clock unless told
 * otherwise.
 */
async function openPoisoned(options: EndpointOptions = {}, createdAtMinute = 0): Promise<Poisoned> {
  const clock = new StepClock();
  const contexts: HandlerContext[] = [];
  const store = createMemoryStore({ now: clock.now });
  const endpoint = await openEndpoint({ now: clock.now, store, ...options }, (receiver) =>
    receiver.on('transfer.*', (_event, context) => {
      contexts.push(context);
      throw new Error('poison');
    }),
  );
  const event = { ...eventAt(clock.startedAt + createdAtMinute * MINUTE_MS), id: 'evt_poison' };
  const sendAt = async (offsets: readonly number[]): Promise<Answer[]> => {
    const answers: Answer[] = [];
    for (const offset of offsets) {
      clock.moveTo(offset * MINUTE_MS);
      answers.push(await endpoint.send(event));
    }
    return answers;
  };
  return { ...endpoint, clock, contexts, sendAt };
}

const FAILED = refused(500, 'handler_failed');
const PARKED = accepted('parked', 'evt_poison');

const readings = [
  { name: 'offsets of 1, 5 and 15 minutes', offsets: [0, 1, 5, 15] },
  { name: 'delays of 1, 5 and 15 minutes', offsets: [0, 1, 6, 21] },
];

describe.each(readings)('the schedule read as $name', ({ offsets }) => {
  test('without dead letters the last failure is answered as such, and the endpoint is at risk', async () => {
    const { sendAt, contexts, reports } = await openPoisoned();
    expect(await sendAt(offsets)).toEqual([FAILED, FAILED, FAILED, FAILED]);
    expect(contexts.map(({ attempt, final }) => ({ attempt, final }))).toEqual([
      { attempt: 1, final: false },
      { attempt: 2, final: false },
      { attempt: 3, final: false },
      { attempt: 4, final: true },
    ]);
    expect(reports.all).toMatchObject([
      { outcome: 'failed', status: 500, attempt: 1, final: false, endpointAtRisk: false },
      { outcome: 'failed', status: 500, attempt: 2, final: false, endpointAtRisk: false },
      { outcome: 'failed', status: 500, attempt: 3, final: false, endpointAtRisk: false },
      { outcome: 'failed', status: 500, attempt: 4, final: true, endpointAtRisk: true },
    ]);
  });

  test('with dead letters the last failure is parked, and no other', async () => {
    const deadLetters = createMapDeadLetters();
    const { sendAt, reports } = await openPoisoned({ deadLetters });
    expect(await sendAt(offsets.slice(0, 3))).toEqual([FAILED, FAILED, FAILED]);
    expect(await readAll(deadLetters.list())).toEqual([]);
    expect(await sendAt(offsets.slice(3))).toEqual([PARKED]);
    expect(reports.all.at(-1)).toMatchObject({
      outcome: 'parked',
      status: 200,
      code: 'handler_failed',
      attempt: 4,
      final: true,
      endpointAtRisk: false,
      late: false,
    });
    expect(await readAll(deadLetters.list())).toMatchObject([
      { id: 'evt_poison', reason: 'handler_failed', attempts: 4 },
    ]);
  });

  test('of duplicates in quick succession only those of the last retry are final', async () => {
    const { sendAt, contexts } = await openPoisoned({ deadLetters: createMapDeadLetters() });
    const answers = await sendAt(offsets.flatMap((offset) => [offset, offset + 0.1]));
    expect(answers).toEqual([FAILED, FAILED, FAILED, FAILED, FAILED, FAILED, PARKED, PARKED]);
    expect(contexts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(contexts.map(({ final }) => final)).toEqual([
      ...[false, false, false, false, false, false],
      ...[true, true],
    ]);
  });
});

test('six failing deliveries within a second are attempts 1 to 6, and one counted attempt', async () => {
  const deadLetters = createMapDeadLetters();
  const { sendAt, contexts, reports } = await openPoisoned({ deadLetters });
  const second = 1 / 60;
  expect(await sendAt([0, 1, 2, 3, 4, 5].map((fifth) => (fifth / 5) * second))).toEqual(
    Array(6).fill(FAILED),
  );
  expect(contexts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(reports.all.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6]);
  // Half a minute after the last that was counted comes the second one, and the fourth is the last.
  expect(await sendAt([0.499, 0.5, 1, 1.499, 1.5])).toEqual([FAILED, FAILED, FAILED, FAILED, PARKED]);
  expect(contexts.map(({ attempt, final }) => (final ? attempt : undefined)).slice(6)).toEqual([
    ...[undefined, undefined, undefined, undefined],
    11,
  ]);
  expect(await readAll(deadLetters.list())).toMatchObject([{ id: 'evt_poison', attempts: 11 }]);
});

test.each([
  { name: 'since it was created, a moment too early', createdAt: 0, offset: 13.499, final: false },
  { name: 'since it was created', createdAt: 0, offset: 13.5, final: true },
  { name: 'since its first claim, a moment too early', createdAt: 4, offset: 13.499, final: false },
  { name: 'since its first claim', createdAt: 4, offset: 13.5, final: true },
])('an attempt is final nine tenths of the last delay after the event: $name', async (row) => {
  const { sendAt, contexts } = await openPoisoned({}, row.createdAt);
  await sendAt([0, row.offset]);
  expect(contexts.map(({ final }) => final)).toEqual([false, row.final]);
});

test('the first attempt that reaches us is final where the earlier ones did not', async () => {
  const { sendAt, contexts } = await openPoisoned({ deadLetters: createMapDeadLetters() });
  expect(await sendAt([15])).toEqual([PARKED]);
  expect(contexts).toMatchObject([{ attempt: 1, final: true }]);
});

test.each([
  { name: 'retries that come early', offsets: [0, 1, 2, 3], finals: [false, false, false, true] },
  { name: 'half the first delay apart', offsets: [0, 0.5, 1, 1.5], finals: [false, false, false, true] },
  {
    name: 'duplicates do not count',
    offsets: [0, 0.1, 1, 1.1, 2, 2.1, 3, 3.1],
    finals: [false, false, false, false, false, false, true, true],
  },
])('an attempt is final by count: $name', async ({ offsets, finals }) => {
  const { sendAt, contexts } = await openPoisoned();
  await sendAt(offsets);
  expect(contexts.map(({ final }) => final)).toEqual(finals);
});

test('the schedule is an option', async () => {
  const { sendAt, contexts } = await openPoisoned({ retryScheduleMs: [2 * MINUTE_MS, 10 * MINUTE_MS] });
  await sendAt([0, 0.5, 2, 4]);
  expect(contexts.map(({ final }) => final)).toEqual([false, false, false, true]);
  const byAge = await openPoisoned({ retryScheduleMs: [2 * MINUTE_MS, 10 * MINUTE_MS] });
  await byAge.sendAt([8.999, 9]);
  expect(byAge.contexts.map(({ final }) => final)).toEqual([false, true]);
});

describe('without retries the only attempt is the last:', () => {
  const retryScheduleMs: readonly number[] = [];

  test('its failure puts the endpoint at risk', async () => {
    const { sendAt, contexts, reports } = await openPoisoned({ retryScheduleMs });
    expect(await sendAt([0])).toEqual([FAILED]);
    expect(contexts).toMatchObject([{ attempt: 1, final: true }]);
    expect(reports.all).toMatchObject([{ outcome: 'failed', final: true, endpointAtRisk: true }]);
  });

  test('its failure is parked', async () => {
    const deadLetters = createMapDeadLetters();
    const { sendAt, reports } = await openPoisoned({ retryScheduleMs, deadLetters });
    expect(await sendAt([0])).toEqual([PARKED]);
    expect(reports.all).toMatchObject([{ outcome: 'parked', attempt: 1, final: true }]);
    expect(await deadLetters.get('evt_poison')).toMatchObject({ reason: 'handler_failed', attempts: 1 });
  });

  test('it is parked where it gets no claim, because it is the last by age, too', async () => {
    const store = createMemoryStore();
    const deadLetters = createMapDeadLetters();
    const claim = () => Promise.reject(new Error('ECONNREFUSED'));
    const options = { retryScheduleMs, deadLetters, store: { ...store, claim } };
    const { sendAt, contexts } = await openPoisoned(options);
    expect(await sendAt([0])).toEqual([PARKED]);
    expect(contexts).toEqual([]);
    expect(await deadLetters.get('evt_poison')).toMatchObject({ reason: 'store_unavailable' });
  });
});

test('a last attempt that succeeds is processed; its letter is there while the handlers run', async () => {
  const { clock, deadLetters } = stepClocked();
  const event = eventAt(clock.startedAt);
  clock.step(15 * MINUTE_MS);
  const letters: unknown[] = [];
  const { send, reports } = await openEndpoint({ now: clock.now, deadLetters, maxRunMs: 5_000 }, (receiver) =>
    receiver.on('transfer.*', async () => {
      letters.push(await deadLetters.get(event.id));
    }),
  );
  expect(await send(event)).toEqual(accepted('processed', event.id));
  expect(letters).toMatchObject([{ id: event.id, attempts: 1, runningUntil: clock.now() + 5_000 }]);
  expect(await readAll(deadLetters.list())).toEqual([]);
  expect(reports.all).toMatchObject([
    { outcome: 'processed', attempt: 1, final: true, endpointAtRisk: false, warnings: [] },
  ]);
});

test('without dead letters the first report warns, and no other', async () => {
  const { sendAt, reports } = await openPoisoned();
  await sendAt([0, 1]);
  expect(reports.all[0]?.warnings).toEqual([expect.stringMatching(/^dead_letters_missing: /)]);
  expect(reports.all[1]?.warnings).toEqual([]);
});
