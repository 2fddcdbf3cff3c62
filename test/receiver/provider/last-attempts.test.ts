import {
  createReceiver,
  type DeadLetter,
  type DeadLetters,
  type HandlerContext,
  type Provider,
  type ReceiverOptions,
  type Report,
} from 'posthorn';
import { beforeEach, describe, expect, test } from 'vitest';
import { flowingTime } from '../../support/fake-time.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { KEY } from '../../support/served.ts';
import { StepClock, stepClocked } from '../../support/step-clock.ts';
import { throwing } from '../../support/throwing.ts';
import { type AcmeEvent, acme, acmeDelivery, acmeEvent } from './senders.ts';

beforeEach(flowingTime);

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const fail = throwing('no booking today');

type Options = Partial<ReceiverOptions<Record<never, never>, AcmeEvent>>;
type Handler = (event: AcmeEvent, context: HandlerContext) => unknown;

/** A receiver, and the order in which handlers ran and dead letters were stored and removed. */
function open(members: Partial<Provider<AcmeEvent>>, handler: Handler, options: Options = {}) {
  const { clock, store } = stepClocked();
  const steps: string[] = [];
  const letters = new Map<string, DeadLetter>();
  const map = createMapDeadLetters(letters);
  const deadLetters: DeadLetters = {
    ...map,
    put: (letter) => {
      steps.push('stored');
      return map.put(letter);
    },
    remove: (id) => {
      steps.push('removed');
      return map.remove(id);
    },
  };
  const reports: Report[] = [];
  const settings = { provider: acme(members), signingKey: KEY, now: clock.now, store, deadLetters };
  const receiver = createReceiver({ ...settings, ...options });
  receiver.observe((report) => reports.push(report));
  receiver.on('*', (event, context) => {
    steps.push('handler');
    return handler(event, context);
  });
  const send = async (event: AcmeEvent): Promise<string> => {
    const { status, body } = await receiver.receive(acmeDelivery(event));
    const { outcome, code } = JSON.parse(body);
    return `${status} ${outcome ?? code}`;
  };
  return { clock, letters, receiver, reports, send, steps, store };
}

describe("retries: 'none': each failure is parked", () => {
  const retries = 'none';

  test('at the failure, not before the handlers', async () => {
    const { reports, send, steps, letters } = open({ retries }, fail);
    const event = acmeEvent();
    expect(await send(event)).toBe('200 parked');
    expect(steps).toEqual(['handler', 'stored']);
    expect(reports).toMatchObject([{ outcome: 'parked', code: 'handler_failed', attempt: 1, final: true }]);
    const [letter] = letters.values();
    expect(letter).toMatchObject({ eventId: event.event_id, provider: 'acme', reason: 'handler_failed' });
  });

  test('and a success stores nothing', async () => {
    const { send, steps } = open({ retries }, () => {});
    const event = acmeEvent();
    expect(await send(event)).toBe('200 processed');
    expect(await send(event)).toBe('200 duplicate');
    expect(steps).not.toContain('stored');
  });

  test('at the deadline, if the handlers still run; their late success removes the letter', async () => {
    const held = new HeldHandler();
    const { letters, reports, send, steps } = open({ retries }, held.handle, { deadlineMs: 400 });
    expect(await send(acmeEvent())).toBe('200 parked');
    expect(steps).toEqual(['handler', 'stored']);
    expect([...letters.values()]).toMatchObject([
      { reason: 'deadline_reached', runningUntil: expect.any(Number) },
    ]);
    (await held.calls.nth(1)).succeed();
    await expect.poll(() => reports.length).toBe(2);
    expect(reports[1]).toMatchObject({ outcome: 'processed', late: true });
    expect(letters.size).toBe(0);
    expect(steps).toEqual(['handler', 'stored', 'removed']);
  });

  test('an earlier lease that ran out: parked, without a run', async () => {
    const { clock, letters, reports, send, steps, store } = open({ retries }, () => {});
    const event = acmeEvent();
    // The claim of a process that died.
    const key = await keyOf(event);
    await store.claim({ id: key, token: 'dead', leaseMs: 20_000, retentionMs: DAY_MS });
    clock.step(20_001);
    expect(await send(event)).toBe('200 parked');
    expect(steps).toEqual(['stored']);
    expect(reports).toMatchObject([{ code: 'run_abandoned', attempt: 2 }]);
    expect(letters.size).toBe(1);
  });

  test('a replay stores its letter before the handlers, as for each sender', async () => {
    let fails = true;
    const { letters, receiver, send, steps } = open({ retries }, () => {
      if (fails) fail();
    });
    await send(acmeEvent());
    fails = false;
    steps.length = 0;
    const [letter] = letters.values();
    if (letter === undefined) throw new Error('nothing was parked');
    expect(await receiver.replay(letter)).toMatchObject({ outcome: 'processed' });
    expect(steps).toEqual(['stored', 'handler', 'removed']);
  });

  test('without dead letters it is answered 500', async () => {
    const { send, reports } = open({ retries }, fail, { deadLetters: undefined });
    expect(await send(acmeEvent())).toBe('500 handler_failed');
    expect(reports).toMatchObject([{ final: true }]);
  });
});

/** The key of an event in the store. */
async function keyOf(event: AcmeEvent): Promise<string> {
  const keys: string[] = [];
  const receiver = createReceiver({
    provider: acme(),
    signingKey: KEY,
    maxEventAgeMs: Number.POSITIVE_INFINITY,
  }).observe(() => {});
  receiver.on('*', (_event, context) => keys.push(context.event.key));
  await receiver.receive(acmeDelivery(event));
  return keys[0] ?? '';
}

describe('of a span, with { forMs, least }', () => {
  const retries = { forMs: 3 * DAY_MS, least: 3 };

  /** True if an attempt of an event of this age is the last one. */
  async function isFinalAt(ageMs: number | undefined): Promise<boolean | undefined> {
    const { clock, reports, send } = open({ retries }, fail, { maxEventAgeMs: Number.POSITIVE_INFINITY });
    await send(acmeEvent('invoice.paid', ageMs === undefined ? undefined : clock.now() - ageMs));
    return reports[0]?.final;
  }

  test('an attempt is the last one by age from half of the span', async () => {
    expect(await isFinalAt(0)).toBe(false);
    expect(await isFinalAt(1.5 * DAY_MS - 1)).toBe(false);
    expect(await isFinalAt(1.5 * DAY_MS)).toBe(true);
    expect(await isFinalAt(30 * DAY_MS)).toBe(true);
    expect(await isFinalAt(undefined)).toBe(false);
  });

  test('and by count after the least number of retries; claims within half a minute count once', async () => {
    const { clock, reports, send } = open({ retries }, fail);
    const event = acmeEvent('invoice.paid', clock.now());
    for (const pauseMs of [0, 29_999, 30_001, 60_000, 60_000]) {
      clock.step(pauseMs);
      await send(event);
    }
    expect(reports.map(({ attempt, final, outcome }) => [attempt, final, outcome])).toEqual([
      [1, false, 'failed'],
      [2, false, 'failed'],
      [3, false, 'failed'],
      [4, false, 'failed'],
      [5, true, 'parked'],
    ]);
  });

  test('an event without a time is the last one by its first claim', async () => {
    const { clock, reports, send } = open({ retries }, fail);
    const event = acmeEvent();
    await send(event);
    clock.step(1.5 * DAY_MS - 1);
    await send(event);
    clock.step(1);
    await send(event);
    expect(reports.map(({ final }) => final)).toEqual([false, false, true]);
  });

  test('the letter of a last attempt is stored before the handlers', async () => {
    const { clock, send, steps } = open({ retries }, () => {});
    await send(acmeEvent('invoice.paid', clock.now() - 2 * DAY_MS));
    expect(steps).toEqual(['stored', 'handler', 'removed']);
  });
});

describe('of a list of delays', () => {
  test('an attempt is the last one by nine tenths of the last delay, or after as many retries', async () => {
    const retries = [60_000, HOUR_MS];
    const { clock, reports, send } = open({ retries }, fail);
    await send(acmeEvent('invoice.paid', clock.now() - 0.9 * HOUR_MS + 1));
    await send(acmeEvent('invoice.paid', clock.now() - 0.9 * HOUR_MS));
    const event = acmeEvent();
    for (const pauseMs of [0, 30_000, 30_000]) {
      clock.step(pauseMs);
      await send(event);
    }
    expect(reports.map(({ final }) => final)).toEqual([false, true, false, false, true]);
  });

  test('retryScheduleMs of the user goes before that of the provider', async () => {
    const { reports, send } = open({ retries: { forMs: DAY_MS, least: 9 } }, fail, { retryScheduleMs: [] });
    await send(acmeEvent());
    expect(reports).toMatchObject([{ final: true }]);
  });
});

describe('endpointAtRisk', () => {
  test.each([
    [true, true],
    [false, false],
    [undefined, false],
  ])('cutsOff %s: %s', async (cutsOff, expected) => {
    const { reports, send } = open({ cutsOff, retries: 'none' }, fail, { deadLetters: undefined });
    await send(acmeEvent());
    expect(reports).toMatchObject([{ outcome: 'failed', final: true, endpointAtRisk: expected }]);
  });

  test('only on the last attempt', async () => {
    const { reports, send } = open({ cutsOff: true }, fail, { deadLetters: undefined });
    await send(acmeEvent());
    expect(reports).toMatchObject([{ final: false, endpointAtRisk: false }]);
  });
});

describe('an event without a time', () => {
  test('is never too old, and is remembered for retentionMs', async () => {
    const clock = new StepClock();
    const { send } = open({}, () => {}, { now: clock.now, store: undefined, maxEventAgeMs: 1 });
    const event = acmeEvent();
    expect(await send(event)).toBe('200 processed');
    clock.step(DAY_MS - 1);
    expect(await send(event)).toBe('200 duplicate');
    clock.step(2);
    expect(await send(event)).toBe('200 processed');
  });

  test('is told so to handlers', async () => {
    const events: unknown[] = [];
    const { clock, send } = open({}, (_event, context) => events.push(context.event));
    const [undated, dated] = [acmeEvent(), acmeEvent('invoice.paid', clock.now())];
    await send(undated);
    await send(dated);
    const common = { type: 'invoice.paid', provider: 'acme', account: undefined };
    expect(events).toEqual([
      { ...common, key: await keyOf(undated), id: undated.event_id, createdAtMs: undefined },
      { ...common, key: await keyOf(dated), id: dated.event_id, createdAtMs: clock.now() },
    ]);
  });
});
