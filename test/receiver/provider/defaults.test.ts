import {
  createMemoryStore,
  createReceiver,
  type HandlerContext,
  hmacSignature,
  type Provider,
  type ReceiverOptions,
  type Report,
} from 'posthorn';
import { describe, expect, test, vi } from 'vitest';
import { fakeTimers } from '../../support/fake-time.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { KEY } from '../../support/served.ts';
import { StepClock } from '../../support/step-clock.ts';
import { unanswered } from '../../support/unanswered.ts';
import { type AcmeEvent, acme, acmeDelivery, acmeEvent, chat, chatHeaders, toDelivery } from './senders.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

type Options = Partial<ReceiverOptions<Record<never, never>, AcmeEvent>>;

function create(members: Partial<Provider<AcmeEvent>>, options: Options = {}) {
  const reports: Report[] = [];
  const receiver = createReceiver({ provider: acme(members), signingKey: KEY, ...options });
  receiver.observe((report) => reports.push(report));
  return { receiver, reports };
}

describe('retentionMs is a day, or the span of the retries and an hour if that is more:', () => {
  /** The time for which a completed id is remembered. */
  async function retentionOf(retries: Provider['retries'], options: Options = {}): Promise<number> {
    const kept: number[] = [];
    const memory = createMemoryStore();
    const store = {
      ...memory,
      complete: (request: Parameters<typeof memory.complete>[0]) => {
        kept.push(request.retentionMs);
        return memory.complete(request);
      },
    };
    const { receiver } = create({ retries }, { store, ...options });
    receiver.on('*', () => {});
    await receiver.receive(acmeDelivery(acmeEvent()));
    return kept[0] ?? 0;
  }

  test.each<[Provider['retries'], number]>([
    ['none', DAY_MS],
    [[], DAY_MS],
    [[60_000, HOUR_MS], DAY_MS],
    [[23 * HOUR_MS], DAY_MS],
    [[23 * HOUR_MS, 1], DAY_MS + 1],
    [[HOUR_MS, 47 * HOUR_MS], 49 * HOUR_MS],
    [{ forMs: 3 * DAY_MS, least: 5 }, 3 * DAY_MS + HOUR_MS],
    [{ forMs: HOUR_MS, least: 1 }, DAY_MS],
  ])('%j: %i', async (retries, expected) => {
    expect(await retentionOf(retries)).toBe(expected);
  });

  test('a value of the user is kept, and must not be below the span', async () => {
    const retries = { forMs: 3 * DAY_MS, least: 5 };
    expect(await retentionOf(retries, { retentionMs: 3 * DAY_MS })).toBe(3 * DAY_MS);
    await expect(retentionOf(retries, { retentionMs: 3 * DAY_MS - 1 })).rejects.toThrow(
      /^retentionMs must be at least /,
    );
    expect(await retentionOf('none', { retentionMs: 1 })).toBe(1);
  });
});

describe('times follow the provider', () => {
  async function contextOf(members: Partial<Provider<AcmeEvent>>, options: Options = {}) {
    const contexts: HandlerContext[] = [];
    const { receiver, reports } = create(members, options);
    receiver.on('*', (_event, context) => {
      contexts.push(context);
      return unanswered();
    });
    const answer = receiver.receive(acmeDelivery(acmeEvent()));
    await vi.advanceTimersByTimeAsync(1);
    const [context] = contexts;
    if (context === undefined) throw new Error('the handler did not begin');
    return { answer, context, reports };
  }

  /** When the handlers are aborted, in milliseconds after they began. */
  async function runMsOf(retries: Provider['retries'], options?: Options): Promise<number> {
    fakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const { context } = await contextOf({ retries }, options);
    for (let ms = 1; ms < 400_000; ms += 500) {
      if (context.signal.aborted) return Math.floor((ms - 1) / 1_000) * 1_000;
      await vi.advanceTimersByTimeAsync(500);
    }
    return Number.POSITIVE_INFINITY;
  }

  test.each([
    [3_000, 2_500],
    [10_000, 8_333],
    [30_000, 25_000],
    [1_200_000, 1_000_000],
  ])('answerWithinMs %i: deadlineMs %i', async (answerWithinMs, deadlineMs) => {
    fakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
    const { context } = await contextOf({ answerWithinMs });
    expect(context.deadlineAt - context.receivedAt).toBe(deadlineMs);
  });

  test.each<[Provider['retries'], number]>([
    [[1_000, 10_000], 8_000],
    [[1_000, 300_000], 240_000],
    [[1_000, 400_000], 240_000],
    [[1_000], 240_000],
    [{ forMs: 60_000, least: 3 }, 240_000],
    ['none', 240_000],
  ])('retries %j: handlers of a delivery are aborted after %i ms', async (retries, expected) => {
    expect(await runMsOf(retries)).toBe(expected);
  });

  test('maxRunMs of the user is kept below the second delay, and refused from there on', async () => {
    expect(await runMsOf([1_000, 10_000], { maxRunMs: 9_000 })).toBe(9_000);
    expect(() => create({ retries: [1_000, 10_000] }, { maxRunMs: 10_000 })).toThrow(
      /^maxRunMs must be below the second delay of retryScheduleMs \(10000\), got 10000/,
    );
  });

  test('the handlers of a replay have 240,000 ms, whatever the second delay is', async () => {
    fakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
    const contexts: HandlerContext[] = [];
    const deadLetters = createMapDeadLetters();
    const { receiver } = create({ retries: [1_000, 10_000] }, { deadLetters });
    receiver.on('*', (_event, context) => {
      contexts.push(context);
      if (contexts.length === 1) throw new Error('no booking today');
    });
    await receiver.receive(acmeDelivery(acmeEvent('invoice.paid', Date.now() - HOUR_MS)));
    for await (const letter of deadLetters.list()) await receiver.replay(letter);
    const replayed = contexts[1];
    expect(replayed && replayed.deadlineAt - Date.now()).toBeGreaterThan(230_000);
  });

  test.each<{ members?: Partial<Provider<AcmeEvent>>; options?: Options; warns: boolean }>([
    { members: { answerWithinMs: 4_999 }, warns: true },
    { members: { answerWithinMs: 5_000 }, warns: false },
    { options: { queue: { add: async () => {}, close: async () => {} } }, warns: false },
    { options: { deadlineMs: 2_500 }, warns: false },
  ])('a sender that waits briefly is told of once: $members, $options', async (given) => {
    const { members = { answerWithinMs: 3_000 }, options, warns } = given;
    const { receiver, reports } = create(members, options);
    receiver.on('*', () => {});
    for (let count = 0; count < 2; count += 1) await receiver.receive(acmeDelivery(acmeEvent()));
    const told = reports.map(({ warnings }) => warnings.filter((each) => each.startsWith('deadline_short')));
    const text = 'acme waits 4.999 s for an answer, and handlers have 4.165 s without a queue';
    expect(told).toEqual([warns ? [expect.stringContaining(text)] : [], []]);
  });

  test('deadlineMs of the user must be below answerWithinMs', () => {
    expect(() => create({ answerWithinMs: 3_000 }, { deadlineMs: 2_999 })).not.toThrow();
    expect(() => create({ answerWithinMs: 3_000 }, { deadlineMs: 3_000 })).toThrow(
      /^deadlineMs must be below 3000/,
    );
  });
});

describe('maxBodyBytes', () => {
  const statusOf = async (members: Partial<Provider<AcmeEvent>>, bytes: number, options: Options = {}) => {
    const { receiver } = create(members, options);
    receiver.on('*', () => {});
    const event = { ...acmeEvent(), note: '' };
    return (
      await receiver.receive(
        acmeDelivery({ ...event, note: 'x'.repeat(bytes - JSON.stringify(event).length) }),
      )
    ).status;
  };

  test('is that of the provider, or 1,048,576', async () => {
    expect(await statusOf({ maxBodyBytes: 500 }, 500)).toBe(200);
    expect(await statusOf({ maxBodyBytes: 500 }, 501)).toBe(413);
    expect(await statusOf({}, 1_048_576)).toBe(200);
    expect(await statusOf({}, 1_048_577)).toBe(413);
  });

  test('of the user goes before it', async () => {
    expect(await statusOf({ maxBodyBytes: 500 }, 501, { maxBodyBytes: 501 })).toBe(200);
    expect(await statusOf({ maxBodyBytes: 500 }, 500, { maxBodyBytes: 499 })).toBe(413);
  });

  test('of a provider may be above the memory for bodies, which grows with it', () => {
    expect(() => create({ maxBodyBytes: 100_000_000 })).not.toThrow();
    expect(() => create({}, { maxBodyBytes: 100_000_000 })).toThrow(/^maxBufferedBytes must be at least /);
    expect(() => create({ maxBodyBytes: 100_000_000 }, { maxBufferedBytes: 1_048_576 })).toThrow(
      /^maxBufferedBytes must be at least maxBodyBytes \(100000000\)/,
    );
  });
});

describe('the age of an event', () => {
  const clock = new StepClock();

  async function codeOf(ageMs: number | undefined, options: Options = {}) {
    const { receiver, reports } = create({}, { now: clock.now, ...options });
    receiver.on('*', () => {});
    const createdAt = ageMs === undefined ? undefined : clock.now() - ageMs;
    await receiver.receive(acmeDelivery(acmeEvent('invoice.paid', createdAt)));
    return reports[0]?.code;
  }

  test('is limited by retentionMs, if the signature has no time', async () => {
    expect(await codeOf(DAY_MS)).toBeUndefined();
    expect(await codeOf(DAY_MS + 1)).toBe('event_too_old');
    expect(await codeOf(-5 * 60_000)).toBeUndefined();
    expect(await codeOf(-5 * 60_000 - 1)).toBe('event_in_future');
    expect(await codeOf(1_000_001, { maxEventAgeMs: 1_000_000 })).toBe('event_too_old');
  });

  test('of an event without a time is 0', async () => {
    expect(await codeOf(undefined)).toBeUndefined();
    expect(await codeOf(undefined, { maxEventAgeMs: 1 })).toBeUndefined();
  });

  /** A sender that signs the time of each attempt, and says when an event was created. */
  function timed() {
    const { signature } = chat();
    return { signature, retries: { forMs: 3 * DAY_MS, least: 5 } };
  }

  async function timedCodeOf(ageMs: number, options: Options = {}) {
    const { receiver, reports } = create(timed(), { now: clock.now, ...options });
    receiver.on('*', () => {});
    const body = JSON.stringify(acmeEvent('invoice.paid', clock.now() - ageMs));
    await receiver.receive(toDelivery(body, chatHeaders(body, clock.now())));
    const [report] = reports;
    return report?.code;
  }

  test('is not limited if the signature covers the time of the attempt', async () => {
    expect(await timedCodeOf(30 * DAY_MS)).toBeUndefined();
    expect(await timedCodeOf(-HOUR_MS)).toBeUndefined();
  });

  test('is limited all the same by a value of the user', async () => {
    expect(await timedCodeOf(DAY_MS + 1, { maxEventAgeMs: DAY_MS })).toBe('event_too_old');
    expect(await timedCodeOf(DAY_MS, { maxEventAgeMs: DAY_MS })).toBeUndefined();
    expect(await timedCodeOf(-HOUR_MS, { maxEventAgeMs: DAY_MS })).toBe('event_in_future');
  });
});

test('a scheme refuses a wrong key when the receiver is created', () => {
  const signature = hmacSignature({
    encoding: 'hex',
    read: () => ({ signatures: [] }),
    key: () => {
      throw new TypeError('a key of acme begins with acme_');
    },
  });
  expect(() => create({ signature })).toThrow('a key of acme begins with acme_');
});
