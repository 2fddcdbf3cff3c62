import { createSandbox } from 'posthorn/sandbox';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { CONTROL, createWebhook, openSandbox, START_AT, serveUntilTheEnd } from './opened-sandbox.ts';
import { openRecorded, record, statuses } from './recording-endpoint.ts';

describe('POST /sandbox/events/{id}/resend', () => {
  test('delivers the same body once more, and does not retry it', async () => {
    const opened = await openSandbox();
    const endpoint = await record(statuses(200, 500));
    await createWebhook(opened, `{"url":"${endpoint.url}"}`);
    const event = opened.sandbox.send({
      type: 'transfer.succeeded',
      id: 'evt/1 ü',
      data: { 1: 2, a: '10.00' },
    });
    await opened.sandbox.clock.advance(60_000);
    const reply = await opened.call(
      'POST',
      `/sandbox/events/${encodeURIComponent(event.id)}/resend`,
      CONTROL,
    );
    expect([reply.status, reply.body]).toEqual([200, event]);
    await opened.sandbox.settled();
    await opened.sandbox.clock.advance(21 * 60_000);
    const [first, second, ...others] = endpoint.received.all;
    expect(second?.bytes.equals(first?.bytes ?? Buffer.of())).toBe(true);
    expect(second?.headers['x-service-signature']).toBe(first?.headers['x-service-signature']);
    expect(others).toEqual([]);
    expect(opened.sandbox.deliveries().map(({ duplicate, status }) => [duplicate, status])).toEqual([
      [false, 200],
      [true, 500],
    ]);
  });

  test('delivers what was changed on its way as it was sent', async () => {
    const { opened, endpoint } = await openRecorded();
    const event = await opened.settle({ type: 'transfer.succeeded', id: 'evt_1', changed: true });
    await opened.call('POST', '/sandbox/events/evt_1/resend', CONTROL);
    const repeated = await endpoint.received.nth(2);
    expect(repeated.body).toEqual(event);
  });

  test('goes to a webhook that is newer than the event, and is refused without one', async () => {
    const opened = await openSandbox();
    opened.sandbox.send({ type: 'transfer.succeeded', id: 'evt_1' });
    const refused = await opened.call('POST', '/sandbox/events/evt_1/resend', CONTROL);
    expect(refused).toMatchObject({ status: 409, body: { message: 'No enabled webhook wants the event' } });
    const endpoint = await record();
    await createWebhook(opened, `{"url":"${endpoint.url}"}`);
    await opened.call('POST', '/sandbox/events/evt_1/resend', CONTROL);
    expect((await endpoint.received.nth(1)).body).toMatchObject({ id: 'evt_1' });
  });

  test('finds an event of an earlier start in the state file, and no unknown one', async () => {
    const state = `${temporaryDirectory()}/state`;
    const options = { clock: 'manual', startAt: START_AT, state } as const;
    const endpoint = await record();
    const before = createSandbox(options);
    const opened = await serveUntilTheEnd(before);
    await createWebhook(opened, `{"url":"${endpoint.url}"}`);
    const event = before.send({ type: 'transfer.succeeded', id: 'evt_1' });
    await before.settled();
    await before.close();
    const { call } = await openSandbox(options);
    expect(await call('GET', '/sandbox/events/evt_1')).toMatchObject({ status: 200, body: event });
    expect((await call('POST', '/sandbox/events/evt_1/resend', CONTROL)).status).toBe(200);
    expect((await endpoint.received.nth(2)).body).toEqual(event);
    for (const reply of [
      await call('GET', '/sandbox/events/evt_2'),
      await call('POST', '/sandbox/events/evt_2/resend', CONTROL),
    ]) {
      expect(reply).toMatchObject({ status: 404, body: { message: 'Event not found' } });
    }
  });
});

test('GET /sandbox/samples/{type} gives the data that an event without data gets', async () => {
  const { call } = await openSandbox();
  expect(await call('GET', '/sandbox/samples/transfer.succeeded')).toMatchObject({
    status: 200,
    body: { id: expect.stringMatching(/^TR/), state: 'SUCCEEDED', amount: 1250 },
  });
  expect(await call('GET', '/sandbox/samples/constructor.created')).toMatchObject({
    body: { state: 'PENDING' },
  });
});

describe('POST /sandbox/clear', () => {
  test('forgets the events that have ended; those with a delivery still to come keep their attempts', async () => {
    const opened = await openSandbox();
    const endpoint = await record(statuses(200, 500));
    await createWebhook(opened, `{"url":"${endpoint.url}"}`);
    await opened.settle({ type: 'transfer.succeeded', id: 'ended' });
    await opened.settle({ type: 'transfer.succeeded', id: 'open' });
    expect(await opened.call('POST', '/sandbox/clear', CONTROL)).toMatchObject({ status: 200 });
    expect(opened.sandbox.deliveries().map(({ event }) => event)).toEqual(['open']);
    expect((await opened.call('GET', '/sandbox/events/ended')).status).toBe(404);
    await opened.sandbox.clock.advance(60_000);
    expect(opened.sandbox.deliveries().map(({ event, number }) => [event, number])).toEqual([
      ['open', 1],
      ['open', 2],
    ]);
    await opened.call('POST', '/sandbox/clear', CONTROL);
    expect(opened.sandbox.deliveries()).toEqual([]);
  });
});

describe('POST /sandbox/webhooks/{id}/key', () => {
  test('gives the signing key, to POST with JSON only', async () => {
    const opened = await openSandbox();
    const { id, secret_signing_key } = await createWebhook(opened, '{"url":"https://example.com/"}');
    const path = `/sandbox/webhooks/${id}/key`;
    expect(await opened.call('POST', path, CONTROL)).toMatchObject({
      status: 200,
      body: { id, secret_signing_key },
    });
    expect((await opened.call('GET', path)).status).toBe(405);
    expect((await opened.call('POST', path)).status).toBe(415);
    expect((await opened.call('POST', path, { ...CONTROL, origin: 'http://evil.example' })).status).toBe(403);
    expect((await opened.call('POST', '/sandbox/webhooks/WH1/key', CONTROL)).status).toBe(404);
  });
});
