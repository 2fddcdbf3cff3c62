import { createMemoryStore, createReceiver, type Delivery, type Report } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test, vi } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { letterOf } from '../../support/letter-of.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { nastyValues } from '../../support/nasty-values.ts';
import { type EndpointOptions, eventAt } from '../../support/open-endpoint.ts';
import { KEY } from '../../support/served.ts';
import { expectNoUnhandledRejections } from '../../support/unhandled-rejections.ts';

expectNoUnhandledRejections();

const promises: readonly { readonly name: string; readonly value: () => unknown }[] = [
  { name: 'a promise', value: async () => true },
  { name: 'a promise that rejects', value: () => Promise.reject(new Error('no')) },
  { name: 'a promise that rejects later', value: () => Promise.resolve().then(fail) },
  { name: 'a thenable that throws', value: () => Object.fromEntries([['then', fail]]) },
];

function fail(): never {
  throw new Error('no time today');
}

/** A function for each value that a function may return or throw, or reject with. */
function functionsOf(values: readonly { readonly name: string; readonly value: unknown }[]) {
  return [
    ...values.map(({ name, value }) => ({ name: `returns ${name}`, call: () => value })),
    ...promises.map(({ name, value }) => ({ name: `returns ${name}`, call: value })),
    ...nastyValues.map(({ name, value }) => ({
      name: `returns a promise that rejects with ${name}`,
      call: () => Promise.reject(value),
    })),
  ];
}

const thrown = nastyValues.map(({ name, value }) => ({
  name: `throws ${name}`,
  call: () => {
    throw value;
  },
}));

const noTimes = [
  Number.NaN,
  Infinity,
  -Infinity,
  8.64e15 + 2,
  Number.MAX_VALUE,
  '1740830400000',
  1n,
  new Date(0),
  [],
].map((value) => ({ name: String(value), value }));

const HOUR_MS = 3_600_000;
const clocks = [...functionsOf([...nastyValues, ...noTimes]), ...thrown];

/** Untyped, for what the compiler would not let pass. */
function openWith(options: Readonly<Record<string, unknown>>) {
  const reports: Report[] = [];
  const runs: string[] = [];
  const deadLetters = createMapDeadLetters();
  const receiver = Reflect.apply(createReceiver, undefined, [{ signingKey: KEY, deadLetters, ...options }]);
  receiver
    .on('*', ({ id }: { id: string }) => runs.push(id))
    .observe((report: Report) => reports.push(report));
  return { deadLetters, receiver, reports, runs };
}

function warningsOf(reports: readonly Report[]): readonly string[] {
  return reports.flatMap(({ warnings }) => warnings);
}

describe('a clock of the application that', () => {
  test.each(clocks)('$name stands aside for that of the system, and is told of once', async ({ call }) => {
    const { deadLetters, receiver, reports, runs } = openWith({ now: call });
    const startedAt = Date.now();
    const event = eventAt(startedAt);
    const recorded = eventAt(Date.parse('2001-01-01T00:00:00Z'));
    const outcomes: unknown[] = [];
    for (const each of [event, event, recorded]) {
      const { body, status } = await receiver.receive(deliveryOf(each));
      outcomes.push([status, JSON.parse(body).outcome]);
    }
    expect(outcomes).toEqual([
      [200, 'processed'],
      [200, 'duplicate'],
      [200, 'parked'],
    ]);
    expect(runs).toEqual([event.id]);
    const { parkedAt, reason } = await letterOf(deadLetters, recorded.id);
    expect([reason, parkedAt >= startedAt, parkedAt <= Date.now()]).toEqual(['event_too_old', true, true]);
    expect(reports.map(({ warnings }) => warnings.length)).toEqual([1, 0, 0]);
    expect(warningsOf(reports)[0]).toMatch(
      /^return_value_invalid: now must return a number of milliseconds, .{1,2100}; Date\.now\(\) is used instead$/s,
    );
    expect(await receiver.health()).toMatchObject({ store: { ok: true } });
  });

  test('is right is not asked to be more than that: any time that a Date can hold is one', async () => {
    for (const time of [0, 0.5, -8.64e15, 8.64e15]) {
      const { receiver, reports } = openWith({ now: () => time, maxEventAgeMs: Infinity });
      await receiver.receive(deliveryOf(createEvent('dispute.won')));
      expect([warningsOf(reports), reports[0]?.receivedAt]).toEqual([[], time]);
    }
  });

  test('fails now and then is followed whenever it is right', async () => {
    let time = Number.NaN;
    const { receiver, reports } = openWith({ now: () => time });
    await receiver.receive(deliveryOf(createEvent('dispute.won')));
    time = 5;
    await receiver.receive(deliveryOf(createEvent('dispute.won')));
    expect(reports[0]?.receivedAt).toBeGreaterThan(1e12);
    expect(reports[1]?.receivedAt).toBe(5);
  });

  test('is told of in the default log, once', async () => {
    const print = vi.spyOn(console, 'error').mockImplementation(() => {});
    try {
      const deadLetters = createMapDeadLetters();
      const now = () => Number.NaN;
      const receiver = createReceiver({ signingKey: KEY, deadLetters, now }).on('*', () => {});
      for (let sent = 0; sent < 3; sent += 1) await receiver.receive(deliveryOf(createEvent('dispute.won')));
      expect(print.mock.calls.flat()).toEqual([
        'posthorn: return_value_invalid: now must return a number of milliseconds, got NaN; Date.now() is used instead',
      ]);
    } finally {
      print.mockRestore();
    }
  });
});

describe('the clock of a memory store that', () => {
  test.each(clocks)('$name makes it fail, so that nothing is handled twice', async ({ call }) => {
    const createStore = (now: unknown) => Reflect.apply(createMemoryStore, undefined, [{ now }]);
    const { receiver, reports, runs } = openWith({ store: createStore(call) });
    expect(await receiver.receive(deliveryOf(createEvent('dispute.won')))).toMatchObject({ status: 503 });
    expect(runs).toEqual([]);
    expect(reports).toMatchObject([{ code: 'store_unavailable' }]);
    expect(reports[0]?.error?.message).toContain(
      'now of createMemoryStore must return a number of milliseconds',
    );
  });

  test('fails in between keeps what the store knows', async () => {
    let time: unknown = 0;
    const now = () => Number(time);
    const { receiver, runs } = openWith({ store: createMemoryStore({ now }) });
    const event = createEvent('dispute.won');
    const send = async () => (await receiver.receive(deliveryOf(event))).status;
    const statuses = [await send()];
    time = Number.NaN;
    statuses.push(await send());
    time = 1;
    statuses.push(await send());
    expect(statuses).toEqual([200, 503, 200]);
    expect(runs).toEqual([event.id]);
  });
});

/** Sends an event with another function beside it, as JavaScript would hand it over. */
function deliveryWith(members: Readonly<Record<string, unknown>>): Delivery {
  return Object.assign(deliveryOf(createEvent('dispute.won')), members);
}

describe('isConnected of a delivery that', () => {
  const answers = functionsOf([...nastyValues, { name: '1', value: 1 }, { name: 'text', value: 'true' }]);
  test.each(answers)('$name changes no answer, and is told of once', async ({ call }) => {
    const { receiver, reports } = openWith({});
    for (let sent = 0; sent < 2; sent += 1)
      expect(await receiver.receive(deliveryWith({ isConnected: call }))).toMatchObject({ status: 200 });
    expect(reports).toMatchObject([
      { outcome: 'processed', answerSent: true },
      { outcome: 'processed', answerSent: true },
    ]);
    expect(warningsOf(reports)).toEqual([
      expect.stringMatching(
        /^return_value_invalid: isConnected of a delivery must return true or false, got .{1,100}; the answer counts/,
      ),
    ]);
  });

  test.each(thrown)('$name changes no answer, and is told of once', async ({ call }) => {
    const { receiver, reports } = openWith({});
    for (let sent = 0; sent < 2; sent += 1)
      expect(await receiver.receive(deliveryWith({ isConnected: call }))).toMatchObject({ status: 200 });
    expect(warningsOf(reports)).toEqual([
      expect.stringMatching(
        /^return_value_invalid: isConnected of a delivery must .*, but threw: .*; the answer counts/s,
      ),
    ]);
  });

  test.each([true, false])('returns %s says whether the answer was sent', async (isSent) => {
    const { receiver, reports } = openWith({});
    await receiver.receive(deliveryWith({ isConnected: () => isSent }));
    expect(reports).toMatchObject([{ answerSent: isSent, warnings: [] }]);
  });
});

describe('waitUntil of a delivery that', () => {
  async function sendTwice(call: unknown) {
    const held = new HeldHandler();
    const options: EndpointOptions = { deadlineMs: 20 };
    const { receiver, reports } = openWith(options);
    receiver.on('dispute.*', held.handle);
    for (let sent = 1; sent <= 2; sent += 1) {
      expect(await receiver.receive(deliveryWith({ waitUntil: call }))).toMatchObject({ status: 503 });
      (await held.calls.nth(sent)).succeed();
    }
    await expect.poll(() => reports.filter(({ late }) => late)).toHaveLength(2);
    return reports;
  }

  const returning = functionsOf([]);
  test.each(returning)('$name is told of once, and the run goes on', async ({ call }) => {
    const reports = await sendTwice(call);
    expect(warningsOf(reports)).toEqual([
      expect.stringMatching(
        /^return_value_invalid: waitUntil of a delivery must return nothing, got a promise/,
      ),
    ]);
  });

  test('returns anything else is right', async () => {
    for (const value of [undefined, null, 0, 'ok', {}]) {
      expect(warningsOf(await sendTwice(() => value))).toEqual([]);
    }
  });
});

describe('mustWait that', () => {
  test.each([...functionsOf(nastyValues), ...thrown])('$name counts as no waiting', async ({ call }) => {
    const deadLetters = Object.assign(createMapDeadLetters(), { mustWait: call });
    // A copy is a store of another kind, which does not make the first report warn.
    const store = { ...createMemoryStore(), mustWait: call };
    const queue = { add: async () => {}, close: async () => {}, mustWait: call };
    const { receiver, reports } = openWith({ store, deadLetters, queue, maxEventAgeMs: Infinity });
    receiver.on('dispute.*', () => {}, { name: 'queued', queue: true });
    const late = eventAt(Date.parse('2001-01-01T00:00:00Z'));
    for (const delivery of [deliveryWith({}), deliveryOf(late)]) {
      expect((await receiver.receive(delivery)).status).toBeLessThan(300);
    }
    expect(warningsOf(reports)).toEqual([]);
  });
});

test('several functions that are wrong are told of each by its name', async () => {
  const { receiver, reports } = openWith({
    now: () => Promise.reject(new Error('a')),
    maxEventAgeMs: HOUR_MS,
  });
  await receiver.receive(deliveryWith({ isConnected: () => Promise.reject(new Error('b')) }));
  expect(warningsOf(reports)).toEqual([
    expect.stringMatching(/^return_value_invalid: now /),
    expect.stringMatching(/^return_value_invalid: isConnected /),
  ]);
});
