import { describe, expect, test } from 'vitest';
import { CONTROL, createWebhook, type OpenedSandbox, openSandbox } from './opened-sandbox.ts';
import { openRecorded, record, statuses } from './recording-endpoint.ts';

const CREATED_AT = '2026-03-01T12:00:00.500Z';

describe('POST /sandbox/events', () => {
  test('answers with the event, which then arrives', async () => {
    const { opened, endpoint } = await openRecorded();
    const body =
      '{"type":"merchant.verification.failed","data":{"id":"MU7","state":"REJECTED"},"id":"evt_7"}';
    const reply = await opened.call('POST', '/sandbox/events', CONTROL, body);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      type: 'merchant.verification.failed',
      id: 'evt_7',
      created_at: CREATED_AT,
      data: { id: 'MU7', state: 'REJECTED' },
    });
    const received = await endpoint.received.first(() => true);
    expect(received.body).toEqual(reply.body);
  });

  test.each([
    ['transfer.succeeded', /^TR\w+$/, 'SUCCEEDED'],
    ['merchant.verification.failed', /^MU\w+$/, 'FAILED'],
    ['payment_instrument.created', /^PI\w+$/, 'PENDING'],
    ['settlement.approved', /^ST\w+$/, 'APPROVED'],
    ['subscription.canceled', /^SU\w+$/, 'CANCELED'],
    ['dispute.won', /^DI\w+$/, 'WON'],
    ['refund.updated', /^RS\w+$/, 'ACTIVE'],
  ])('%s without data and id gets plausible ones', async (type, id, state) => {
    const { call } = await openSandbox();
    const send = () => call('POST', '/sandbox/events', CONTROL, `{"type":"${type}"}`);
    const { body } = await send();
    expect(body).toEqual({
      type,
      id: expect.stringMatching(/^evt_.+/),
      created_at: CREATED_AT,
      data: { id: expect.stringMatching(id), state, amount: 1250, tags: {} },
    });
    expect((await send()).body).not.toMatchObject({ id: (body as { id: string }).id });
  });

  test.each([
    ['{}', 'type'],
    ['{"type":"transfer"}', 'type'],
    ['{"type":"transfer."}', 'type'],
    ['{"type":7}', 'type'],
    ['{"type":"a.b","data":[]}', 'data'],
    ['{"type":"a.b","data":"text"}', 'data'],
    ['{"type":"a.b","id":""}', 'id'],
    ['{"type":"a.b","duplicates":-1}', 'duplicates'],
    ['{"type":"a.b","duplicates":101}', 'duplicates'],
    ['{"type":"a.b","delayMs":0.5}', 'delayMs'],
    ['{"type":"a.b","ageMs":-1}', 'ageMs'],
    ['{"type":"a.b","ageMs":3153600000001}', 'ageMs must be 3153600000000 at most'],
    ['{"type":"a.b","datum":{}}', 'datum'],
    ['[]', 'object'],
  ])('%s is refused, and the member named', async (body, named) => {
    const { call } = await openSandbox();
    const reply = await call('POST', '/sandbox/events', CONTROL, body);
    expect(reply).toMatchObject({ status: 400, body: { status: 400, message: 'Invalid event' } });
    expect((reply.body as { details: string }).details).toContain(named);
  });

  test('without a body it says what is missing', async () => {
    const { call } = await openSandbox();
    expect(await call('POST', '/sandbox/events', CONTROL)).toMatchObject({
      status: 400,
      body: { message: 'Invalid event' },
    });
  });
});

test('send refuses what the path refuses, with the details', async () => {
  const { sandbox } = await openSandbox();
  expect(() => sandbox.send({ type: 'transfer' })).toThrow(
    expect.objectContaining({
      name: 'RefusedError',
      code: 'request_refused',
      status: 400,
      message: 'Invalid event',
      details: 'type must be <entity>.<type>',
    }),
  );
});

test('what the caller does to its data later changes no retry', async () => {
  const opened = await openSandbox();
  const endpoint = await record(statuses(500));
  await createWebhook(opened, `{"url":"${endpoint.url}"}`);
  const data = { id: 'TR1', tags: { kept: true } };
  opened.sandbox.send({ type: 'transfer.created', data });
  data.tags.kept = false;
  await opened.sandbox.clock.advance(60_000);
  expect(endpoint.received.all.map(({ body }) => body.data)).toEqual([
    { id: 'TR1', tags: { kept: true } },
    { id: 'TR1', tags: { kept: true } },
  ]);
});

describe('on demand', () => {
  async function openWith(
    ...answers: number[]
  ): Promise<OpenedSandbox & { readonly arrived: () => string[] }> {
    const opened = await openSandbox();
    const endpoint = await record(statuses(...answers));
    await createWebhook(opened, `{"url":"${endpoint.url}"}`);
    return { ...opened, arrived: () => endpoint.received.all.map(({ body }) => body.id) };
  }

  test('duplicates: copies of the first delivery, with the same id', async () => {
    const { call, sandbox, arrived } = await openWith();
    await call('POST', '/sandbox/events', CONTROL, '{"type":"transfer.created","id":"e","duplicates":2}');
    await sandbox.settled();
    expect(arrived()).toEqual(['e', 'e', 'e']);
    const attempts = sandbox.deliveries({ event: 'e' });
    expect(attempts.map(({ number, duplicate }) => [number, duplicate]).sort()).toEqual([
      [1, false],
      [1, true],
      [1, true],
    ]);
    await sandbox.clock.advance(86_400_000);
    expect(arrived()).toHaveLength(3);
  });

  test('copies that fail are not retried; the delivery is', async () => {
    const { sandbox, arrived } = await openWith(500, 500, 500);
    sandbox.send({ type: 'transfer.created', id: 'e', duplicates: 2 });
    await sandbox.clock.advance(86_400_000);
    expect(arrived()).toHaveLength(4);
    expect(sandbox.deliveries().map(({ number }) => number)).toEqual([1, 1, 1, 2]);
  });

  test('reordering: a delayed first delivery arrives after a later event', async () => {
    const { call, sandbox, arrived } = await openWith();
    const body = '{"type":"transfer.created","id":"first","delayMs":5000}';
    const reply = await call('POST', '/sandbox/events', CONTROL, body);
    expect(reply.body).toMatchObject({ created_at: CREATED_AT });
    await sandbox.clock.advance(1_000);
    sandbox.send({ type: 'transfer.succeeded', id: 'second' });
    await sandbox.clock.advance(3_999);
    expect(arrived()).toEqual(['second']);
    await sandbox.clock.advance(1);
    expect(arrived()).toEqual(['second', 'first']);
  });

  test('an age makes the event older from the start, in every attempt alike', async () => {
    const { call, sandbox } = await openWith(500);
    const body = '{"type":"transfer.created","id":"e","ageMs":840000}';
    const created_at = '2026-03-01T11:46:00.500Z';
    expect((await call('POST', '/sandbox/events', CONTROL, body)).body).toMatchObject({ created_at });
    await sandbox.clock.advance(60_000);
    expect(sandbox.deliveries()).toMatchObject([{ at: CREATED_AT }, { at: '2026-03-01T12:01:00.500Z' }]);
    for (const { request } of sandbox.deliveries())
      expect(JSON.parse(request.body)).toMatchObject({ created_at });
  });

  test('two events out of order have the same age', async () => {
    const { call, sandbox } = await openWith();
    const body = '{"type":"transfer.updated","outOfOrder":true,"ageMs":60000}';
    await call('POST', '/sandbox/events', CONTROL, body);
    expect(sandbox.deliveries().map(({ request }) => JSON.parse(request.body).created_at)).toEqual([
      '2026-03-01T11:59:01.500Z',
      '2026-03-01T11:59:00.500Z',
    ]);
  });

  test('a delayed delivery is retried from when it failed', async () => {
    const { sandbox } = await openWith(500);
    const startedAt = sandbox.clock.now();
    sandbox.send({ type: 'transfer.created', delayMs: 5_000 });
    await sandbox.clock.advance(3_600_000);
    expect(sandbox.deliveries().map(({ at }) => Date.parse(at) - startedAt)).toEqual([5_000, 65_000]);
  });
});
