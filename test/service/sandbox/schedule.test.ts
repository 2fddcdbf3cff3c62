import { describe, expect, test } from 'vitest';
import {
  ADMINISTRATOR,
  createWebhook,
  type OpenedSandbox,
  openSandbox,
  retrieveWebhook,
} from './opened-sandbox.ts';
import { record, statuses } from './recording-endpoint.ts';

/**
 * By number of failures: after how many seconds the interface has the deliveries made, and whether it goes
 * on.
 */
const EXPECTED = [
  { failures: 0, atSeconds: [0], enabled: true },
  { failures: 1, atSeconds: [0, 60], enabled: true },
  { failures: 2, atSeconds: [0, 60, 360], enabled: true },
  { failures: 3, atSeconds: [0, 60, 360, 1260], enabled: true },
  { failures: 4, atSeconds: [0, 60, 360, 1260], enabled: false },
  { failures: 5, atSeconds: [0, 60, 360, 1260], enabled: false },
] as const;

/** Ways to let an hour and more pass. */
const ADVANCES: Record<string, (opened: OpenedSandbox) => Promise<void>> = {
  'an hour in one step': ({ sandbox }) => sandbox.clock.advance(3_600_000),
  'steps of 7 seconds': async ({ sandbox }) => {
    for (let step = 0; step < 520; step += 1) await sandbox.clock.advance(7_000);
  },
  'steps that stop a millisecond before each retry': async ({ sandbox }) => {
    for (const delayMs of [60_000, 300_000, 900_000]) {
      const before = sandbox.deliveries().length;
      await sandbox.clock.advance(delayMs - 1);
      expect(sandbox.deliveries()).toHaveLength(before);
      await sandbox.clock.advance(1);
    }
    await sandbox.clock.advance(3_600_000);
  },
};

describe.each(Object.entries(ADVANCES))('%s', (_, advance) => {
  test.each(EXPECTED)('an endpoint that fails $failures times', async ({ failures, atSeconds, enabled }) => {
    const opened = await openSandbox();
    const endpoint = await record(statuses(...Array(failures).fill(500)));
    const { id } = await createWebhook(opened, `{"url":"${endpoint.url}"}`);
    const startedAt = opened.sandbox.clock.now();
    await opened.settle({ type: 'transfer.created', id: 'evt_1' });
    expect(endpoint.received.all).toHaveLength(1);
    await advance(opened);

    const attempts = opened.sandbox.deliveries({ event: 'evt_1' });
    expect(attempts.map(({ at }) => (Date.parse(at) - startedAt) / 1_000)).toEqual(atSeconds);
    expect(attempts.map(({ number }) => number)).toEqual([1, 2, 3, 4].slice(0, atSeconds.length));
    expect(attempts.map(({ status }) => status)).toEqual(
      atSeconds.map((_at, index) => (index < failures ? 500 : 200)),
    );
    // The endpoint saw the same, and each time the same bytes.
    expect(endpoint.received.all).toHaveLength(atSeconds.length);
    expect(new Set(endpoint.received.all.map(({ bytes }) => bytes.toString('hex'))).size).toBe(1);
    expect(await retrieveWebhook(opened, id)).toMatchObject({ enabled });
  });
});

test('after the third failed retry nothing is sent until the webhook is enabled again', async () => {
  const opened = await openSandbox();
  const endpoint = await record(statuses(500, 500, 500, 500));
  const { id } = await createWebhook(opened, `{"url":"${endpoint.url}"}`);
  const path = `/payments/na/webhooks/${id}`;
  opened.sandbox.send({ type: 'transfer.created', id: 'given-up' });
  await opened.sandbox.clock.advance(1_260_000);
  expect(await retrieveWebhook(opened, id)).toMatchObject({
    enabled: false,
    updated_at: '2026-03-01T12:21:00.500Z',
  });
  opened.sandbox.send({ type: 'transfer.created', id: 'meanwhile' });
  await opened.sandbox.clock.advance(86_400_000);
  expect(endpoint.received.all.map(({ body }) => body.id)).toEqual(Array(4).fill('given-up'));

  await opened.call('PUT', path, ADMINISTRATOR, '{"enabled":true}');
  await opened.sandbox.clock.advance(86_400_000);
  expect(endpoint.received.all).toHaveLength(4);
  await opened.settle({ type: 'transfer.created', id: 'resumed' });
  expect(endpoint.received.all.slice(4).map(({ body }) => body.id)).toEqual(['resumed']);
});

test('a webhook that was enabled again has four attempts for an event anew', async () => {
  const opened = await openSandbox();
  const endpoint = await record((response) => void response.writeHead(500).end());
  const { id } = await createWebhook(opened, `{"url":"${endpoint.url}"}`);
  for (const event of ['first', 'second']) {
    opened.sandbox.send({ type: 'transfer.created', id: event });
    await opened.sandbox.clock.advance(3_600_000);
    expect(opened.sandbox.deliveries({ event }).map(({ number }) => number)).toEqual([1, 2, 3, 4]);
    await opened.call('PUT', `/payments/na/webhooks/${id}`, ADMINISTRATOR, '{"enabled":true}');
  }
});

test('a retry that falls due while the webhook is disabled is dropped; one that falls due later is made', async () => {
  const opened = await openSandbox();
  const endpoint = await record((response) => void response.writeHead(500).end());
  const { id } = await createWebhook(opened, `{"url":"${endpoint.url}"}`);
  const path = `/payments/na/webhooks/${id}`;
  opened.sandbox.send({ type: 'transfer.created', id: 'early' });
  await opened.sandbox.clock.advance(30_000);
  await opened.settle({ type: 'transfer.created', id: 'late' });
  await opened.call('PUT', path, ADMINISTRATOR, '{"enabled":false}');
  await opened.sandbox.clock.advance(30_000);
  await opened.call('PUT', path, ADMINISTRATOR, '{"enabled":true}');
  await opened.sandbox.clock.advance(30_000);
  expect(endpoint.received.all.map(({ body }) => body.id)).toEqual(['early', 'late', 'late']);
});

test('one webhook that is given up costs the others nothing', async () => {
  const opened = await openSandbox();
  const failing = await record((response) => void response.writeHead(503).end());
  const sound = await record();
  const bad = await createWebhook(opened, `{"url":"${failing.url}"}`);
  const good = await createWebhook(opened, `{"url":"${sound.url}"}`);
  opened.sandbox.send({ type: 'transfer.created' });
  await opened.sandbox.clock.advance(3_600_000);
  expect(opened.sandbox.deliveries({ webhook: bad.id })).toHaveLength(4);
  expect(opened.sandbox.deliveries({ webhook: good.id })).toHaveLength(1);
  expect(await retrieveWebhook(opened, bad.id)).toMatchObject({ enabled: false });
  expect(await retrieveWebhook(opened, good.id)).toMatchObject({ enabled: true });
});

test('a fast endpoint does not wait for a slow one, nor one event for another', async () => {
  const opened = await openSandbox();
  const answers: (() => void)[] = [];
  const endpoint = await record((response) => {
    answers.push(() => void response.writeHead(200).end());
    // Only when all three are there together is any of them answered.
    if (answers.length === 3) for (const answer of answers) answer();
  });
  await createWebhook(opened, `{"url":"${endpoint.url}"}`);
  for (const id of ['a', 'b', 'c']) opened.sandbox.send({ type: 'transfer.created', id });
  await opened.sandbox.settled();
  expect(opened.sandbox.deliveries().map(({ status }) => status)).toEqual([200, 200, 200]);
});
