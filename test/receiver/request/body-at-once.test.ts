import { createReceiver, type Delivery } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { KEY } from '../../support/served.ts';
import { throwing } from '../../support/throwing.ts';
import { unanswered } from '../../support/unanswered.ts';

describe('a body that an adapter hands over at once', () => {
  const mount = (maxBodyBytes?: number) => {
    const handled: string[] = [];
    const options = maxBodyBytes === undefined ? {} : { maxBodyBytes, maxBufferedBytes: maxBodyBytes };
    const receiver = createReceiver({ signingKey: KEY, ...options }).on('transfer.succeeded', (event) => {
      handled.push(event.id);
    });
    return { receiver, handled };
  };

  /** The same delivery without a promise. */
  const atOnce = async (delivery: Delivery): Promise<Delivery> => {
    const body = await delivery.readBody({ maxBytes: 1_000_000, signal: new AbortController().signal });
    return { ...delivery, readBody: () => body };
  };

  test('is handled', async () => {
    const { receiver, handled } = mount();
    const event = createEvent('transfer.succeeded');
    expect(await receiver.receive(await atOnce(deliveryOf(event)))).toMatchObject({ status: 200 });
    expect(handled).toEqual([event.id]);
  });

  test('is handled as text, too', async () => {
    const { receiver, handled } = mount();
    const event = createEvent('transfer.succeeded', { data: { note: 'Grüße' } });
    for (const readBody of [() => JSON.stringify(event), async () => JSON.stringify(event)]) {
      expect(await receiver.receive({ ...deliveryOf(event), readBody })).toMatchObject({ status: 200 });
    }
    expect(handled).toEqual([event.id]);
  });

  test('is refused at once where it has given way before it was read', async () => {
    const { receiver } = mount(300);
    const delivery = deliveryOf(createEvent('transfer.succeeded'));
    const readBody: Delivery['readBody'] = ({ onProgress }) => {
      onProgress?.(301);
      return unanswered();
    };
    expect(await receiver.receive({ ...delivery, readBody })).toMatchObject({
      status: 503,
      body: expect.stringContaining('buffer_full'),
    });
  });

  test('whose headers have no known form is a failure of the receiver, which can be closed all the same', async () => {
    const { receiver } = mount();
    const delivery = deliveryOf(createEvent('transfer.succeeded'));
    const headers = JSON.parse('null');
    expect(await receiver.receive({ ...delivery, headers })).toMatchObject({ status: 500, close: true });
    expect(await receiver.close({ graceMs: 20_000 })).toEqual({ abandoned: [] });
  });

  test('is refused where it is longer than maxBodyBytes, and takes no room from others', async () => {
    const { receiver, handled } = mount(300);
    const long = createEvent('transfer.succeeded', { data: { note: 'x'.repeat(300) } });
    for (let count = 0; count < 3; count += 1) {
      const reply = await receiver.receive(await atOnce(deliveryOf(long)));
      expect(reply).toMatchObject({ status: 413, body: expect.stringContaining('body_too_large') });
    }
    const short = deliveryOf({ ...createEvent('transfer.succeeded'), data: {} });
    expect(await receiver.receive(await atOnce(short))).toMatchObject({ status: 200 });
    expect(handled).toHaveLength(1);
  });

  test('is refused where it was changed', async () => {
    const { receiver, handled } = mount();
    const delivery = { ...deliveryOf(createEvent('transfer.succeeded')), readBody: () => Buffer.from('{}') };
    expect(await receiver.receive(delivery)).toMatchObject({ status: 403 });
    expect(handled).toEqual([]);
  });

  test('that cannot be read is a failure of the receiver, whether that is thrown or rejected', async () => {
    const { receiver } = mount();
    const delivery = deliveryOf(createEvent('transfer.succeeded'));
    const fail = throwing('the disk is full');
    for (const readBody of [fail, async () => fail()]) {
      expect(await receiver.receive({ ...delivery, readBody })).toMatchObject({ status: 500 });
    }
  });
});
