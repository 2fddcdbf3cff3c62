import { createReceiver, type Delivery } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { shutGate } from '../../support/gate.ts';
import { KEY } from '../../support/served.ts';

test('what an adapter reports of a body after it was refused keeps no other body out', async () => {
  const receiver = createReceiver({
    signingKey: KEY,
    maxBodyBytes: 1_000,
    maxBufferedBytes: 1_000,
    bodyTimeoutMs: 10_000,
  }).observe(() => {});
  receiver.on('*', () => {});
  const delivery = deliveryOf(createEvent('transfer.created'));
  let reportLate: ((heldBytes: number) => void) | undefined;
  const readBody: Delivery['readBody'] = ({ onProgress }) => {
    reportLate = onProgress;
    return Promise.reject(new Error('ECONNRESET'));
  };
  expect(await receiver.receive({ ...delivery, readBody })).toMatchObject({ status: 500 });

  const gate = shutGate();
  const other = receiver.receive({
    ...delivery,
    readBody: async (options) => {
      options.onProgress?.(600);
      await gate.pass();
      return delivery.readBody(options);
    },
  });
  await gate.held.nth(1);
  // Were it counted, the other body would be the one with the least recent progress.
  reportLate?.(600);
  gate.open();
  expect(await other).toMatchObject({ status: 200 });
});
