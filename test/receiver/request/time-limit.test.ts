import {
  createReceiver,
  type Delivery,
  type HandlerContext,
  type ReceiverOptions,
  type Report,
} from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { flowingTime } from '../../support/fake-time.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { eventAt } from '../../support/open-endpoint.ts';
import { KEY } from '../../support/served.ts';
import { MINUTE_MS, StepClock } from '../../support/step-clock.ts';
import { unanswered } from '../../support/unanswered.ts';

beforeEach(flowingTime);

/** Hands over one delivery with a time limit; what came of it. */
async function receive(
  timeLimitMs: unknown,
  handle: (event: unknown, context: HandlerContext) => unknown,
  options: Partial<ReceiverOptions<Record<never, never>>> = {},
  event: object = createEvent('transfer.succeeded'),
) {
  const reports: Report[] = [];
  const receiver = createReceiver({ signingKey: KEY, ...options }).observe((report) => reports.push(report));
  receiver.on('*', handle);
  const delivery = { ...deliveryOf(event), timeLimitMs };
  const reply = await Reflect.apply(receiver.receive, receiver, [delivery]);
  return { status: reply.status, ...JSON.parse(reply.body), report: reports[0] };
}

describe('the time limit of a delivery', () => {
  test('is its deadline, where that comes first', async () => {
    let context: HandlerContext | undefined;
    const { code, report } = await receive(300, (_event, given) => {
      context = given;
      return unanswered();
    });
    expect(code).toBe('deadline_reached');
    expect(report).toMatchObject({ outcome: 'failed', attempt: 1 });
    expect(report?.durationMs).toBeGreaterThan(250);
    expect(report?.durationMs).toBeLessThan(1_500);
    expect(context?.deadlineAt).toBe((context?.receivedAt ?? 0) + 300);
  });

  test.each([200, 1e9, Number.POSITIVE_INFINITY])('never puts deadlineMs off: %d', async (timeLimitMs) => {
    const { code, report } = await receive(timeLimitMs, unanswered, { deadlineMs: 100 });
    expect(code).toBe('deadline_reached');
    expect(report?.durationMs).toBeLessThan(1_500);
  });

  test.each([0, -5_000])('leaves no time for handlers: %d', async (timeLimitMs) => {
    const { status, code } = await receive(timeLimitMs, unanswered);
    expect({ status, code }).toEqual({ status: 503, code: 'deadline_reached' });
  });

  test.each([Number.NaN, '3000', null, () => 3_000])('is a number: %s', async (timeLimitMs) => {
    const { status, code, report } = await receive(timeLimitMs, () => {});
    expect({ status, code }).toEqual({ status: 500, code: 'configuration_invalid' });
    expect(report?.error?.message).toMatch(/^timeLimitMs of a delivery must be a number of milliseconds/);
  });

  test('leaves the function that fetches keys its share, in the proportion of the limit', async () => {
    const signingKey = () => new Promise<string>((resolve) => setTimeout(resolve, 20, KEY));
    expect(await receive(4_000, () => {}, { signingKey })).toMatchObject({ outcome: 'processed' });
  });
});

describe('a last attempt with a time limit', () => {
  const clock = new StepClock();
  const event = eventAt(clock.startedAt);
  clock.moveTo(15 * MINUTE_MS);

  test('is parked before the limit, where its handlers take longer', async () => {
    const deadLetters = createMapDeadLetters();
    const { outcome, report } = await receive(1_000, unanswered, { deadLetters, now: clock.now }, event);
    expect(outcome).toBe('parked');
    expect(report?.durationMs).toBeGreaterThan(500);
    expect(report?.durationMs).toBeLessThan(1_500);
    expect(await deadLetters.get(event.id)).toMatchObject({ reason: 'run_abandoned' });
  });

  test('is answered by then, where its letter is not stored', async () => {
    const deadLetters = { ...createMapDeadLetters(), put: unanswered };
    const { code, report } = await receive(400, unanswered, { deadLetters, now: clock.now }, event);
    expect(code).toBe('deadline_reached');
    expect(report?.warnings.join()).toContain('dead_letter_not_stored');
    expect(report?.durationMs).toBeLessThan(1_500);
  });
});

test('a body that has arrived is not given up at bodyTimeoutMs', async () => {
  const receiver = createReceiver({ signingKey: KEY, bodyTimeoutMs: 1_000 }).observe(() => {});
  receiver.on('*', () => new Promise((resolve) => setTimeout(resolve, 5_000)));
  const delivery = deliveryOf(createEvent('transfer.succeeded'));
  let signal: AbortSignal | undefined;
  const readBody: Delivery['readBody'] = async (options) => {
    signal = options.signal;
    return delivery.readBody(options);
  };
  expect(await receiver.receive({ ...delivery, readBody })).toMatchObject({ status: 200 });
  expect(signal?.aborted).toBe(false);
});
