import { expect, test } from 'vitest';
import { createWebhook, openSandbox } from './opened-sandbox.ts';
import { record, statuses } from './recording-endpoint.ts';

const PATH = '/sandbox/deliveries';

test('GET /sandbox/deliveries shows of each attempt the request, the answer and the time', async () => {
  const opened = await openSandbox();
  let isFirst = true;
  const endpoint = await record((response) => {
    if (isFirst) response.writeHead(503, { 'retry-after': '60' }).end('try later ✓');
    else response.writeHead(200).end();
    isFirst = false;
  });
  const { id } = await createWebhook(
    opened,
    `{"url":"${endpoint.url}","authentication":{"type":"BEARER","bearer":{"token":"t0k3n"}}}`,
  );
  opened.sandbox.send({ type: 'transfer.created', id: 'evt_1', data: { id: 'TR1' } });
  await opened.sandbox.clock.advance(60_000);
  const reply = await opened.call('GET', `${PATH}?event=evt_1`);
  expect(reply.status).toBe(200);
  const request = {
    url: endpoint.url,
    headers: {
      'content-type': 'application/json',
      'content-length': '100',
      'user-agent': 'posthorn-sandbox',
      date: 'Sun, 01 Mar 2026 12:00:00 GMT',
      'x-service-signature': endpoint.received.all[0]?.headers['x-service-signature'],
      authorization: 'Bearer t0k3n',
    },
    body: '{"type":"transfer.created","id":"evt_1","created_at":"2026-03-01T12:00:00.500Z","data":{"id":"TR1"}}',
  };
  expect(reply.body).toEqual([
    {
      event: 'evt_1',
      webhook: id,
      number: 1,
      duplicate: false,
      at: '2026-03-01T12:00:00.500Z',
      request,
      status: 503,
      response: { headers: expect.objectContaining({ 'retry-after': '60' }), body: 'try later ✓' },
      durationMs: expect.any(Number),
    },
    {
      event: 'evt_1',
      webhook: id,
      number: 2,
      duplicate: false,
      at: '2026-03-01T12:01:00.500Z',
      request: { ...request, headers: { ...request.headers, date: 'Sun, 01 Mar 2026 12:01:00 GMT' } },
      status: 200,
      response: { headers: expect.any(Object), body: '' },
      durationMs: expect.any(Number),
    },
  ]);
  expect(opened.sandbox.deliveries({ event: 'evt_1' })).toEqual(reply.body);
});

test('an attempt without an answer shows the error', async () => {
  const opened = await openSandbox();
  const endpoint = await record((response) => void response.socket?.destroy());
  await createWebhook(opened, `{"url":"${endpoint.url}"}`);
  await opened.settle({ type: 'transfer.created' });
  const { body } = await opened.call('GET', PATH);
  expect(body).toEqual([expect.objectContaining({ error: expect.stringMatching(/\w/) })]);
  expect(body).toEqual([expect.not.objectContaining({ status: expect.anything() })]);
});

test('by event, by webhook, by both, and all', async () => {
  const opened = await openSandbox();
  const endpoint = await record();
  const one = await createWebhook(opened, `{"url":"${endpoint.url}"}`);
  const two = await createWebhook(opened, `{"url":"${endpoint.url}"}`);
  for (const id of ['a', 'b']) opened.sandbox.send({ type: 'transfer.created', id });
  await opened.sandbox.settled();
  const pairs = async (query: string): Promise<string[]> => {
    const { body } = await opened.call('GET', `${PATH}${query}`);
    const attempts = body as { event: string; webhook: string }[];
    return attempts.map(({ event, webhook }) => `${event} ${webhook === one.id ? 1 : 2}`).sort();
  };
  expect(await pairs('')).toEqual(['a 1', 'a 2', 'b 1', 'b 2']);
  expect(await pairs('?event=a')).toEqual(['a 1', 'a 2']);
  expect(await pairs(`?webhook=${two.id}`)).toEqual(['a 2', 'b 2']);
  expect(await pairs(`?webhook=${two.id}&event=b`)).toEqual(['b 2']);
  expect(await pairs('?event=none')).toEqual([]);
  expect(await opened.call('GET', `${PATH}?event=a&event=b`)).toMatchObject({
    status: 400,
    body: { status: 400, message: 'Invalid event' },
  });
});

test('a long answer is cut, and the last 1,000 attempts are kept', { timeout: 60_000 }, async () => {
  const opened = await openSandbox();
  const endpoint = await record((response) => void response.writeHead(200).end('x'.repeat(40_000)));
  await createWebhook(opened, `{"url":"${endpoint.url}"}`);
  for (let batch = 0; batch < 11; batch += 1) {
    await opened.settle({ type: 'transfer.created', id: `batch-${batch}`, duplicates: 99 });
  }
  expect(endpoint.received.all).toHaveLength(1_100);
  const attempts = opened.sandbox.deliveries();
  expect(attempts).toHaveLength(1_000);
  expect(attempts[0]?.event).toBe('batch-1');
  expect(attempts[0]?.response?.body).toBe('x'.repeat(16_384));
});

test('an attempt is shown once it has been answered', async () => {
  const opened = await openSandbox();
  const endpoint = await record(statuses(204));
  await createWebhook(opened, `{"url":"${endpoint.url}"}`);
  opened.sandbox.send({ type: 'transfer.created' });
  expect(opened.sandbox.deliveries()).toEqual([]);
  await opened.sandbox.settled();
  expect(opened.sandbox.deliveries()).toMatchObject([{ status: 204, response: { body: '' } }]);
});
