import { createServer } from 'node:net';
import { type Client, ServiceError } from 'posthorn/client';
import { describe, expect, test } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { listenUntilTheEnd } from '../../support/listen.ts';
import { CHECKS, CURRENCIES, PURPOSES, page, QUOTE, webhook } from './literal-bodies.ts';
import { json, type Reply } from './literal-service.ts';
import { openClient, openClientOf } from './open-client.ts';
import { clientOf, failureOf, SIGNING_KEY } from './secrets.ts';

interface Call {
  readonly name: string;
  readonly run: (client: Client) => Promise<unknown>;
  readonly body: string;
}

const wire = { destination: { currency: 'EUR', amount: '1.00' } } as const;

const repeatable: readonly Call[] = [
  { name: 'fxQuotes.retrieve', run: (client) => client.fxQuotes.retrieve(1), body: QUOTE },
  {
    name: 'eChecks.findByMerchantTransactionId',
    run: (client) => client.eChecks.findByMerchantTransactionId('order-1'),
    body: CHECKS,
  },
  { name: 'paymentPurposes.list', run: (client) => client.paymentPurposes.list(), body: PURPOSES },
  { name: 'currencies.list', run: (client) => client.currencies.list(), body: CURRENCIES },
  { name: 'webhooks.list', run: (client) => client.webhooks.list(), body: page([]) },
  { name: 'webhooks.retrieve', run: (client) => client.webhooks.retrieve('WH1'), body: webhook('WH1') },
  {
    name: 'webhooks.update',
    run: (client) => client.webhooks.update('WH1', { enabled: true }),
    body: webhook('WH1'),
  },
];

const creations: readonly Omit<Call, 'body'>[] = [
  { name: 'fxQuotes.create', run: (client) => client.fxQuotes.create(wire) },
  { name: 'webhooks.create', run: (client) => client.webhooks.create({ url: 'https://example.com' }) },
];

const passing: readonly [string, Reply][] = [
  ['a connection that is reset', 'reset'],
  ['an answer that is cut', 'cut'],
  ['an answer that does not come', 'hang'],
  ['429', { status: 429 }],
  ['500', { status: 500 }],
  ['503 in HTML', { status: 503, headers: { 'content-type': 'text/html' }, body: '<h1>Down</h1>' }],
];

describe.each(passing)('after %s', (_name, reply) => {
  test.each(repeatable)('$name is sent again, the same', async ({ run, body }) => {
    const client = await openClient(reply, json(body));
    await run(client);
    expect(client.requests).toHaveLength(2);
    expect(client.requests[1]).toEqual(client.requests[0]);
  });

  test.each(creations)('$name is not sent again', async ({ run }) => {
    const client = await openClient(reply, json(QUOTE));
    expect(await failureOf(() => run(client))).toBeInstanceOf(ServiceError);
    expect(client.requests).toHaveLength(1);
  });
});

test.each([400, 401, 403, 404, 409, 422, 301])('%i is final at once', async (status) => {
  const { webhooks, requests } = await openClient({ status });
  const error = await failureOf(() => webhooks.retrieve('WH1'));
  expect(error).toMatchObject({ code: 'service_refused', status });
  expect(requests).toHaveLength(1);
});

test('an invalid answer is not asked for again', async () => {
  const { webhooks, requests } = await openClient(json('{}'));
  expect(await failureOf(() => webhooks.retrieve('WH1'))).toHaveProperty('code', 'answer_invalid');
  expect(requests).toHaveLength(1);
});

test('the fourth failure is the last', async () => {
  const { webhooks, requests } = await openClientOf(() => ({ status: 502 }));
  const error = await failureOf(() => webhooks.retrieve('WH1'));
  expect(error).toMatchObject({ code: 'service_refused', status: 502 });
  expect(requests).toHaveLength(4);
});

test('success on the fourth try is success', async () => {
  const { webhooks } = await openClient('reset', 'reset', 'reset', json(webhook('WH1')));
  expect(await webhooks.retrieve('WH1')).toHaveProperty('id', 'WH1');
});

describe('Retry-After', () => {
  test.each([
    ['in seconds', () => '1'],
    ['as a date', () => new Date(Date.now() + 2_000).toUTCString()],
  ])('%s is waited for', async (_name, retryAfter) => {
    const times: number[] = [];
    const { webhooks } = await openClientOf(() => {
      times.push(performance.now());
      return times.length === 1
        ? { status: 429, headers: { 'retry-after': retryAfter() } }
        : json(webhook('WH1'));
    });
    await webhooks.retrieve('WH1');
    const [first = 0, second = 0] = times;
    // A timer may fire a millisecond early, and a date is cut to whole seconds.
    expect(second - first).toBeGreaterThan(900);
  });

  test('beyond 30 seconds is told to the caller instead', async () => {
    const { webhooks, requests } = await openClient({ status: 503, headers: { 'retry-after': '31' } });
    const error = await failureOf(() => webhooks.retrieve('WH1'));
    expect(error).toMatchObject({ code: 'service_refused', status: 503, retryAfterMs: 31_000 });
    expect(requests).toHaveLength(1);
  });

  test.each(['soon', '-5', ''])('"%s" is passed over', async (value) => {
    const { webhooks } = await openClient(
      { status: 503, headers: { 'retry-after': value } },
      json(webhook('WH1')),
    );
    expect(await webhooks.retrieve('WH1')).toHaveProperty('id', 'WH1');
  });
});

describe('the error of a service that is not there', () => {
  test('says why', async () => {
    const error = await failureOf(async () =>
      clientOf(`http://127.0.0.1:${await freePort()}`).webhooks.create({ url: 'https://example.com' }),
    );
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({
      code: 'service_unreachable',
      status: undefined,
      request: 'POST /payments/na/webhooks',
      message: expect.stringMatching(
        /^the service could not be reached by POST \/payments\/na\/webhooks: connect ECONNREFUSED .*; it may have been carried out: check before you send it again$/,
      ),
    });
  });

  test('shows nothing of an answer that breaks off in the middle of the protocol', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        const created = webhook('WH1', { secret_signing_key: `"${SIGNING_KEY}"` });
        socket.end(`HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n${created}`);
      });
    });
    const url = await listenUntilTheEnd(server);
    const error = await failureOf(() => clientOf(url).webhooks.create({ url: 'https://example.com' }));
    expect(error).toHaveProperty('code', 'service_unreachable');
  });

  test('says when the time was over', async () => {
    const { fxQuotes } = await openClientOf(() => 'hang', { timeoutMs: 100 });
    const error = await failureOf(() => fxQuotes.create(wire));
    expect(error).toMatchObject({
      code: 'service_timeout',
      message:
        'the service has not answered POST /banking/us2/v1/transaction/fxQuote within 100 ms; ' +
        'it may have been carried out: check before you send it again',
    });
  });
});
