import { createReceiver, type Delivery, type Report } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { expect, test, vi } from 'vitest';
import { deliveryOf } from './delivery-of.ts';
import { KEY } from './served.ts';

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
function deliveryOfLength(bytes: number): Delivery {
  const bodyWith = (note: string) => JSON.stringify({ ...event, data: { note } });
  const event = createEvent('transfer.succeeded');
  const body = bodyWith('x'.repeat(bytes - bodyWith('').length));
  expect(Buffer.byteLength(body)).toBe(bytes);
  return deliveryOf(body, { 'content-length': [String(bytes)] });
}

test.each([700, 65_536])('a delivery of %i bytes waits for others before it is worked on', async (bytes) => {
  const { order, status } = await runBesideTurn(deliveryOfLength(bytes));
  expect(status).toBe(200);
  expect(order).toEqual(['turn', 'handled', 'reported', 'answered']);
});

test('so does one of unknown length', async () => {
  const delivery = deliveryOfLength(100_000);
  const { 'content-length': _, ...headers } = delivery.headers;
  const { order } = await runBesideTurn({ ...delivery, headers });
  expect(order).toEqual(['turn', 'handled', 'reported', 'answered']);
});

test.each([65_537, 1_000_000])('one of %i bytes waits before it is answered', async (bytes) => {
  const { order, status } = await runBesideTurn(deliveryOfLength(bytes));
  expect(status).toBe(200);
  expect(order).toEqual(['handled', 'turn', 'reported', 'answered']);
});

test('so does a large one that is refused', async () => {
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

test.each([700, 100_000])(
  'tests that replace the timers of their process leave no delivery of %i bytes waiting',
  async (bytes) => {
    vi.useFakeTimers({ toFake: ['setImmediate', 'setTimeout', 'setInterval'] });
    try {
      const receiver = createReceiver({ signingKey: KEY }).on('*', () => {});
      expect(await receiver.receive(deliveryOfLength(bytes))).toMatchObject({ status: 200 });
    } finally {
      vi.useRealTimers();
    }
  },
);
