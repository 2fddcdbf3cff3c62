import { createHmac } from 'node:crypto';
import { createSandbox } from 'posthorn/sandbox';
import { describe, expect, test } from 'vitest';
import { throwing } from '../../support/throwing.ts';
import { CONTROL, createWebhook, openSandbox, START_AT, serveUntilTheEnd } from './opened-sandbox.ts';
import { record, statuses } from './recording-endpoint.ts';

const signature = (key: string, body: Uint8Array): string =>
  createHmac('sha256', key).update(body).digest('hex');

describe('an event that is changed on its way', () => {
  test('bears the signature of what it was, and is never retried', async () => {
    const opened = await openSandbox();
    const { url, received } = await record(statuses(403));
    const { secret_signing_key: key } = await createWebhook(opened, `{"url":"${url}"}`);
    const { id } = await opened.settle({ type: 'transfer.succeeded', data: { amount: 5 }, changed: true });
    await opened.sandbox.clock.advance(60 * 60_000);
    expect(opened.sandbox.deliveries()).toMatchObject([{ event: id, number: 1, changed: true, status: 403 }]);
    const { bytes, body, headers } = await received.nth(1);
    expect(body).toMatchObject({ id, data: { amount: 5, changed: 'on its way' } });
    expect(headers['x-service-signature']).not.toBe(signature(key, bytes));
    const original = JSON.stringify({ ...body, data: { amount: 5 } });
    expect(headers['x-service-signature']).toBe(signature(key, Buffer.from(original)));
  });

  test('costs the webhook nothing', async () => {
    const opened = await openSandbox();
    const { url } = await record(statuses(403, 403, 403, 403, 403));
    await createWebhook(opened, `{"url":"${url}"}`);
    for (let count = 0; count < 5; count += 1)
      opened.sandbox.send({ type: 'transfer.failed', changed: true });
    await opened.sandbox.settled();
    const { call } = opened;
    expect((await call('POST', '/sandbox/events', CONTROL, '{"type":"a.b","changed":1}')).body).toMatchObject(
      {
        details: 'changed must be true or false',
      },
    );
    await opened.settle({ type: 'transfer.failed' });
    expect(opened.sandbox.deliveries().at(-1)).toMatchObject({ status: 200 });
  });
});

describe('POST /sandbox/events with outOfOrder', () => {
  test('sends two events of one resource, the newer one first', async () => {
    const opened = await openSandbox();
    const { url, received } = await record();
    await createWebhook(opened, `{"url":"${url}"}`);
    const body = '{"type":"dispute.updated","id":"evt_older","outOfOrder":true}';
    const reply = await opened.call('POST', '/sandbox/events', CONTROL, body);
    expect(reply).toMatchObject({ status: 200, body: { id: 'evt_older', type: 'dispute.updated' } });
    const [newer, older] = received.all.map((each) => each.body);
    expect(older).toMatchObject({ id: 'evt_older', created_at: new Date(START_AT).toISOString() });
    expect(newer).toMatchObject({ created_at: new Date(START_AT + 1_000).toISOString(), data: older?.data });
    expect(newer?.id).not.toBe('evt_older');
    expect(opened.sandbox.clock.now()).toBe(START_AT + 2_000);
  });

  test('refuses what no event has', async () => {
    const { call } = await openSandbox();
    const body = '{"type":"dispute.updated","outOfOrder":true,"more":1}';
    expect((await call('POST', '/sandbox/events', CONTROL, body)).status).toBe(400);
  });
});

describe('POST /sandbox/clock with toNextRetry', () => {
  test('moves the clock to the next retry, which is answered when it resolves', async () => {
    const opened = await openSandbox();
    const { url } = await record(statuses(500, 500));
    await createWebhook(opened, `{"url":"${url}"}`);
    opened.sandbox.send({ type: 'transfer.created' });
    const step = async () =>
      (await opened.call('POST', '/sandbox/clock', CONTROL, '{"toNextRetry":true}')).body;
    expect(await step()).toEqual({ now: new Date(START_AT + 60_000).toISOString() });
    expect(await step()).toEqual({ now: new Date(START_AT + 360_000).toISOString() });
    expect(opened.sandbox.deliveries().map(({ status }) => status)).toEqual([500, 500, 200]);
    expect(await step()).toEqual({ status: 409, message: 'No delivery is pending' });
  });
});

describe('sandbox.observe', () => {
  test('tells of each attempt when it has ended; an observer that throws changes nothing', async () => {
    const opened = await openSandbox();
    const { url } = await record(statuses(500));
    await createWebhook(opened, `{"url":"${url}"}`);
    const seen: unknown[] = [];
    opened.sandbox.observe(throwing('the observer is broken'));
    opened.sandbox.observe((attempt) => seen.push(attempt));
    const warning = new Promise((resolve) => process.once('warning', resolve));
    opened.sandbox.send({ type: 'transfer.created' });
    await opened.sandbox.clock.advance(60_000);
    expect(seen).toEqual(opened.sandbox.deliveries());
    expect(seen).toMatchObject([{ status: 500 }, { status: 200 }]);
    expect(await warning).toMatchObject({ message: 'sandbox: an observer failed: the observer is broken' });
  });
});

test('with signingKey every webhook has that key', async () => {
  const opened = await serveUntilTheEnd(createSandbox({ signingKey: 'the key' }));
  const first = await createWebhook(opened, '{"url":"https://example.com/"}');
  const second = await createWebhook(opened, '{"url":"https://example.com/"}');
  expect([first, second].map(({ secret_signing_key }) => secret_signing_key)).toEqual(['the key', 'the key']);
  expect(() => createSandbox({ signingKey: '' })).toThrow('signingKey must not be empty');
});
