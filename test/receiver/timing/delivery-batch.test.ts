import { createReceiver, type Delivery, type Report } from 'posthorn';
import { describe, expect, test, vi } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { eventAt } from '../../support/open-endpoint.ts';
import { Seen } from '../../support/seen.ts';
import { KEY } from '../../support/served.ts';
import { MINUTE_MS } from '../../support/step-clock.ts';

/** Runs a delivery beside a turn of the event loop that has been asked for before it came. */
async function runBesideTurn(delivery: Delivery) {
  const order: string[] = [];
  const reports: Report[] = [];
  const receiver = createReceiver({ signingKey: KEY })
    .on('*', () => {
      order.push('handled');
    })
    .observe((report) => {
      order.push('reported');
      reports.push(report);
    });
  const turned = new Promise<void>((resolve) => {
    setImmediate(() => {
      order.push('turn');
      resolve();
    });
  });
  const { status } = await receiver.receive(delivery);
  order.push('answered');
  await turned;
  return { order, reports, status };
}

/** A delivery whose body has `bytes`, and says so. */
function deliveryOfLength(bytes: number, createdAt: number = Date.now()): Delivery {
  const event = eventAt(createdAt);
  const bodyWith = (note: string) => JSON.stringify({ ...event, data: { note } });
  const body = bodyWith('x'.repeat(bytes - bodyWith('').length));
  expect(Buffer.byteLength(body)).toBe(bytes);
  return deliveryOf(body, { 'content-length': [String(bytes)] });
}

test.each([700, 5_000])('a delivery of %i bytes waits for others before it is worked on', async (bytes) => {
  const { order, status } = await runBesideTurn(deliveryOfLength(bytes));
  expect(status).toBe(200);
  expect(order).toEqual(['turn', 'handled', 'reported', 'answered']);
});

test('a delivery of unknown length waits before it is worked on', async () => {
  const delivery = deliveryOfLength(100_000);
  const headers = Object.fromEntries(
    Object.entries(delivery.headers).filter(([name]) => name !== 'content-length'),
  );
  const { order } = await runBesideTurn({ ...delivery, headers });
  expect(order).toEqual(['turn', 'handled', 'reported', 'answered']);
});

test('a chunked delivery is worked on at once, because its unread chunks take memory', async () => {
  const delivery = deliveryOfLength(700);
  const others = Object.entries(delivery.headers).filter(([name]) => name !== 'content-length');
  const headers = { ...Object.fromEntries(others), 'transfer-encoding': ['chunked'] };
  const { order } = await runBesideTurn({ ...delivery, headers });
  expect(order).toEqual(['handled', 'turn', 'reported', 'answered']);
});

test('of a thousand deliveries that come together nearly all are worked on without waiting for more', async () => {
  const handled: unknown[] = [];
  const receiver = createReceiver({ signingKey: KEY }).on('*', (event) => void handled.push(event.id));
  const handledAtTurn = new Promise<number>((resolve) => {
    setImmediate(() => resolve(handled.length));
  });
  const answers = Array.from({ length: 1_000 }, () => receiver.receive(deliveryOfLength(700)));
  expect(await handledAtTurn).toBeGreaterThan(900);
  for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
});

test.each([300_000, 1_000_000])('a delivery of %i bytes waits before it is answered', async (bytes) => {
  const { order, status } = await runBesideTurn(deliveryOfLength(bytes));
  expect(status).toBe(200);
  expect(order).toEqual(['handled', 'turn', 'reported', 'answered']);
});

test('a large delivery that is refused waits before it is answered', async () => {
  const delivery = { ...deliveryOfLength(100_000), readBody: () => Buffer.alloc(100_000, 'x') };
  const { order, status } = await runBesideTurn(delivery);
  expect(status).toBe(403);
  expect(order).toEqual(['turn', 'reported', 'answered']);
});

test('a sender that hangs up while its answer waits is told in the report', async () => {
  let isConnected = true;
  setImmediate(() => {
    isConnected = false;
  });
  const delivery = { ...deliveryOfLength(100_000), isConnected: () => isConnected };
  const { reports } = await runBesideTurn(delivery);
  expect(reports).toMatchObject([{ outcome: 'processed', answerSent: false }]);
});

test('close() waits for an answer that waits', async () => {
  const receiver = createReceiver({ signingKey: KEY });
  const order: string[] = [];
  const handled = new Promise<void>((resolve) => receiver.on('*', () => resolve()));
  const answered = receiver.receive(deliveryOfLength(100_000)).then(() => order.push('answered'));
  await handled;
  await receiver.close().then(() => order.push('closed'));
  await answered;
  expect(order).toEqual(['answered', 'closed']);
});

test.each([
  { what: 'refused', ageMs: 0, status: 503 },
  { what: 'parked', ageMs: 15 * MINUTE_MS, status: 200 },
])('out of grace, close() resolves once a large delivery was answered: $what', async ({ ageMs, status }) => {
  const held = new HeldHandler();
  const order: string[] = [];
  const receiver = createReceiver({ signingKey: KEY, deadLetters: createMapDeadLetters() })
    .on('*', held.handle)
    .observe(() => order.push('reported'));
  const answered = receiver.receive(deliveryOfLength(100_000, Date.now() - ageMs)).then((reply) => {
    order.push('answered');
    return reply;
  });
  await held.calls.nth(1);
  await receiver.close({ graceMs: 0 });
  order.push('closed');
  expect(await answered).toMatchObject({ status });
  expect(order).toEqual(['reported', 'answered', 'closed']);
});

test('a large delivery that is answered at its deadline is reported then, and its end later', async () => {
  const held = new HeldHandler();
  const reports = new Seen<Report>();
  const receiver = createReceiver({ signingKey: KEY, deadlineMs: 50 })
    .on('*', held.handle)
    .observe(reports.add);
  const ends: Promise<unknown>[] = [];
  const delivery = {
    ...deliveryOfLength(100_000),
    waitUntil: (end: Promise<unknown>) => void ends.push(end),
  };
  expect(await receiver.receive(delivery)).toMatchObject({ status: 503 });
  expect(reports.all).toMatchObject([{ code: 'deadline_reached', late: false }]);
  (await held.calls.nth(1)).succeed();
  expect(ends).toHaveLength(1);
  await ends[0];
  expect(reports.all).toMatchObject([{ late: false }, { outcome: 'processed', late: true }]);
});

describe('tests that replace the timers of their process', () => {
  const receiveMeanwhile = async (bytes: number) => {
    vi.useFakeTimers({ toFake: ['setImmediate', 'setTimeout', 'setInterval'] });
    try {
      const receiver = createReceiver({ signingKey: KEY }).on('*', () => {});
      return await receiver.receive(deliveryOfLength(bytes));
    } finally {
      vi.useRealTimers();
    }
  };

  test.each([700, 100_000])('leave no delivery of %i bytes waiting', async (bytes) => {
    expect(await receiveMeanwhile(bytes)).toMatchObject({ status: 200 });
  });

  test('leave no later delivery without its deadline', async () => {
    await receiveMeanwhile(700);
    const receiver = createReceiver({ signingKey: KEY, deadlineMs: 50 }).on('*', new HeldHandler().handle);
    expect(await receiver.receive(deliveryOfLength(700))).toMatchObject({
      status: 503,
      body: expect.stringContaining('deadline_reached'),
    });
    await receiver.close({ graceMs: 0 });
  });
});
