import { ConfigurationError } from 'posthorn';
import type { CallOptions, Client } from 'posthorn/client';
import { describe, expect, test } from 'vitest';
import { readAll } from '../../support/read-all.ts';
import { unanswered } from '../../support/unanswered.ts';
import { until } from '../../support/until.ts';
import { openClientOf } from './open-client.ts';
import { clientOf, failureOf } from './secrets.ts';

const url = 'https://example.com/hooks';

const calls: readonly [string, (client: Client, options: CallOptions) => Promise<unknown>][] = [
  ['webhooks.create', (client, options) => client.webhooks.create({ url }, options)],
  ['webhooks.list', (client, options) => client.webhooks.list({}, options)],
  ['webhooks.listAll', (client, options) => readAll(client.webhooks.listAll(options))],
  ['webhooks.retrieve', (client, options) => client.webhooks.retrieve('WH1', options)],
  ['webhooks.update', (client, options) => client.webhooks.update('WH1', {}, options)],
  ['webhooks.ensure', (client, options) => client.webhooks.ensure({ url }, options)],
  ['webhooks.rotate', (client, options) => client.webhooks.rotate('WH1', { onSigningKey() {} }, options)],
  [
    'fxQuotes.create',
    (client, options) =>
      client.fxQuotes.create({ destination: { currency: 'EUR', amount: '1.00' } }, options),
  ],
  ['fxQuotes.retrieve', (client, options) => client.fxQuotes.retrieve(1, options)],
  ['eChecks.find…', (client, options) => client.eChecks.findByMerchantTransactionId('a', options)],
  ['paymentPurposes.list', (client, options) => client.paymentPurposes.list(options)],
  ['currencies.list', (client, options) => client.currencies.list(options)],
  ['currencies.listPage', (client, options) => client.currencies.listPage({}, options)],
  [
    'request',
    (client, options) => client.request('GET', '/things', { credentials: 'administrator', ...options }),
  ],
];

describe.each(calls)('%s rejects with the reason of the signal', (_name, call) => {
  const reason = new Error('the user has left');

  test('aborted before: nothing is sent', async () => {
    const client = await openClientOf(() => 'hang');
    const signal = AbortSignal.abort(reason);
    expect(await failureOf(() => call(client, { signal }))).toBe(reason);
    expect(client.requests).toHaveLength(0);
  });

  test('aborted during the request: it is not sent again', async () => {
    const controller = new AbortController();
    const client = await openClientOf(() => {
      controller.abort(reason);
      return 'hang';
    });
    expect(await failureOf(() => call(client, { signal: controller.signal }))).toBe(reason);
    expect(client.requests).toHaveLength(1);
  });
});

test('aborted while the answer is on its way', async () => {
  const controller = new AbortController();
  const { webhooks } = await openClientOf(() => {
    setTimeout(() => controller.abort(), 100);
    return { headers: { 'content-length': '1000' }, body: '{' };
  });
  const error = await failureOf(() => webhooks.retrieve('WH1', { signal: controller.signal }));
  expect(error).toBe(controller.signal.reason);
});

test('aborted in the pause before the next try: at once', async () => {
  const controller = new AbortController();
  const { webhooks, requests } = await openClientOf(() => ({
    status: 503,
    headers: { 'retry-after': '30' },
  }));
  const startedAt = performance.now();
  const failure = failureOf(() => webhooks.retrieve('WH1', { signal: controller.signal }));
  await until('the answer was sent', () => requests.length === 1);
  // Long enough for the answer to be read on a busy machine; too early would be an abort during the request.
  setTimeout(() => controller.abort(), 300);
  expect(await failure).toBe(controller.signal.reason);
  expect(performance.now() - startedAt).toBeLessThan(15_000);
  expect(requests).toHaveLength(1);
});

test('aborted while a token is awaited', async () => {
  const controller = new AbortController();
  const accessToken = () => {
    queueMicrotask(() => controller.abort());
    return unanswered();
  };
  const { currencies, requests } = await openClientOf(() => 'hang', { profile: { accessToken } });
  const error = await failureOf(() => currencies.list({ signal: controller.signal }));
  expect(error).toBe(controller.signal.reason);
  expect(requests).toHaveLength(0);
});

test('a signal that is used for many calls keeps no listener of them', async () => {
  const { signal } = new AbortController();
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...parameters: Parameters<typeof add>) => {
    listeners += 1;
    add(...parameters);
  };
  signal.removeEventListener = (...parameters: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...parameters);
  };
  const { webhooks } = await openClientOf(() => ({ status: 404 }));
  for (let index = 0; index < 5; index += 1) await failureOf(() => webhooks.retrieve('WH1', { signal }));
  expect(listeners).toBe(0);
});

test('what is no signal, and an option that is none, are refused', async () => {
  const client = clientOf('https://example.com');
  // @ts-expect-error no signal
  const wrong = await failureOf(() => client.webhooks.list({}, { signal: 5 }));
  expect(wrong).toBeInstanceOf(ConfigurationError);
  expect(wrong).toHaveProperty('message', 'signal of webhooks.list must be an AbortSignal, got 5');
  // @ts-expect-error unknown
  const unknown = await failureOf(() => client.webhooks.list({}, { timeoutMs: 5 }));
  expect(unknown).toBeInstanceOf(ConfigurationError);
});
