import { ServiceError } from 'posthorn/client';
import { describe, expect, test } from 'vitest';
import { errorOf } from '../../support/error-of.ts';
import { CHECKS, CURRENCIES, PURPOSES, page, QUOTE, webhook } from './literal-bodies.ts';
import { inTurn, json, openLiteralService, type Reply } from './literal-service.ts';
import { openClient } from './open-client.ts';
import {
  API_KEY,
  BASIC,
  failureOf,
  JWT,
  PASSWORD,
  SIGNING_KEY,
  WEBHOOK_PASSWORD,
  WEBHOOK_TOKEN,
} from './secrets.ts';

describe('an error of the interface becomes { status, message, details }', () => {
  test.each<[number, string, string | undefined]>([
    [404, 'Webhook not found', undefined],
    [400, 'Invalid URL', 'URL must use the HTTPS protocol'],
    [400, 'Invalid authentication configuration', 'Basic authentication requires username and password'],
    [400, 'Invalid enabled_events', 'unknown entity: transfr'],
  ])('%i %s', async (status, message, details) => {
    const client = await openClient(json(JSON.stringify({ status, message, details }), status));
    const error = await failureOf(() => client.webhooks.update('WH1', { enabled: true }));
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({
      name: 'ServiceError',
      code: 'service_refused',
      request: 'PUT /payments/na/webhooks/WH1',
      status,
      message,
      details,
    });
  });

  test('a message without a status, and details that are no text', async () => {
    const client = await openClient(json('{"message":"Forbidden","details":{"why":1}}', 403));
    const error = await failureOf(() => client.fxQuotes.retrieve(1));
    expect(error).toMatchObject({ status: 403, message: 'Forbidden', details: undefined });
  });

  test.each<[string, Reply]>([
    ['HTML', { status: 401, headers: { 'content-type': 'text/html' }, body: `<h1>${JWT}</h1>` }],
    ['nothing', { status: 401 }],
    ['a list', json('[]', 401)],
    ['a text', json('"no"', 401)],
    ['an empty message', json('{"message":""}', 401)],
    ['JSON that is cut', json(`{"message":"${API_KEY}`, 401)],
  ])('%s: the status alone', async (_name, reply) => {
    const client = await openClient(reply);
    expect(await failureOf(() => client.fxQuotes.retrieve(1))).toMatchObject({
      code: 'service_refused',
      status: 401,
      message: 'the service answered GET /banking/us2/v1/transaction/fxQuote/id/1 with 401',
    });
  });

  test('a redirect is not followed: the credentials are for one host', async () => {
    const other = await openLiteralService(inTurn(json(QUOTE)));
    const client = await openClient({ status: 307, headers: { location: `${other.url}/x` } });
    expect(await failureOf(() => client.fxQuotes.retrieve(1))).toMatchObject({
      code: 'service_refused',
      status: 307,
    });
    expect(other.requests).toEqual([]);
  });
});

describe('a service that quotes what it was sent', () => {
  test('has it taken out of its message and its details', async () => {
    const body = {
      message: `bad password ${WEBHOOK_PASSWORD}`,
      details: `Basic ${BASIC} is ${PASSWORD}`,
    };
    const client = await openClient(json(JSON.stringify(body), 400));
    const authentication = {
      type: 'BASIC',
      basic: { username: 'hook', password: WEBHOOK_PASSWORD },
    } as const;
    expect(await failureOf(() => client.webhooks.update('WH1', { authentication }))).toMatchObject({
      message: 'bad password [hidden]',
      details: 'Basic [hidden] is [hidden]',
    });
  });

  test('has the token of a new webhook, and the JWT and the API key, taken out too', async () => {
    const client = await openClient(
      json(JSON.stringify({ message: `bad token ${WEBHOOK_TOKEN}` }), 400),
      json(JSON.stringify({ message: `${JWT} with ${API_KEY} has expired` }), 401),
      json(JSON.stringify({ errorCode: 7, errorMessage: `no access for ${API_KEY}` })),
    );
    const authentication = { type: 'BEARER', bearer: { token: WEBHOOK_TOKEN } } as const;
    const create = () => client.webhooks.create({ url: 'https://example.com', authentication });
    expect(await failureOf(create)).toHaveProperty('message', 'bad token [hidden]');
    expect(await failureOf(() => client.fxQuotes.retrieve(1))).toHaveProperty(
      'message',
      '[hidden] with [hidden] has expired',
    );
    expect(await failureOf(() => client.eChecks.findByMerchantTransactionId('a'))).toHaveProperty(
      'message',
      'no access for [hidden]',
    );
  });
});

describe('an answer that is not what the interface shows', () => {
  const created = webhook('WH1', { id: '5', secret_signing_key: `"${SIGNING_KEY}"` });

  test.each<[string, string, string]>([
    ['empty', '', 'it is empty'],
    ['blank', ' \n', 'it is empty'],
    ['HTML', '<html></html>', 'it is not JSON'],
    ['a cut text', created.slice(0, -4), 'it is not JSON'],
    ['null', 'null', 'expected object'],
    ['a wrong member', created, 'id: Invalid input: expected string, received number'],
    ['an empty id', webhook('', { secret_signing_key: `"${SIGNING_KEY}"` }), 'id: Too small'],
    ['no signing key', webhook('WH1'), 'secret_signing_key: Invalid input: expected string, received null'],
    ['an empty signing key', webhook('WH1', { secret_signing_key: '""' }), 'secret_signing_key: Too small'],
  ])('%s: answer_invalid, which names what is wrong and shows nothing', async (_name, body, complaint) => {
    const client = await openClient(json(body, 201));
    expect(await failureOf(() => client.webhooks.create({ url: 'https://example.com' }))).toMatchObject({
      code: 'answer_invalid',
      status: 201,
      request: 'POST /payments/na/webhooks',
      message: expect.stringContaining(complaint),
    });
  });

  test.each<[string, string, string]>([
    ['a wrong url', webhook('WH1', { url: '5' }), 'url: Invalid input: expected string, received number'],
    [
      'no flag',
      webhook('WH1', { enabled: 'null' }),
      'enabled: Invalid input: expected boolean, received null',
    ],
    [
      'no filter',
      webhook('WH1', { enabled_events: 'null' }),
      'enabled_events: Invalid input: expected array',
    ],
    [
      'another type of authentication',
      webhook('WH1', { authentication: `{"type":"X","x":"${WEBHOOK_TOKEN}"}` }),
      'authentication.type: ',
    ],
  ])(
    '%s of a webhook that is read: answer_invalid, because it is compared',
    async (_name, body, complaint) => {
      const client = await openClient(json(body), json(body), json(page([body])));
      for (const call of [
        () => client.webhooks.retrieve('WH1'),
        () => client.webhooks.update('WH1', { enabled: true }),
        () => client.webhooks.list(),
      ]) {
        expect(await failureOf(call)).toMatchObject(errorOf('answer_invalid', complaint));
      }
    },
  );

  test('times and links of a webhook, on which nothing depends, may be of any form or missing', async () => {
    const members = { created_at: '"2026-03-31T09:05:00+0000"', updated_at: 'null', _links: '[]' };
    const odd = webhook('WH1', { ...members, secret_signing_key: 'false' });
    const client = await openClient(json(odd), json(odd), json(page([odd])));
    const read = [
      await client.webhooks.retrieve('WH1'),
      await client.webhooks.update('WH1', { enabled: true }),
      ...(await client.webhooks.list()).webhooks,
    ];
    expect(read).toHaveLength(3);
    for (const one of read) {
      const { updated_at: _updated, _links, ...rest } = JSON.parse(odd);
      expect(one).toEqual({ ...rest, secret_signing_key: null });
    }
  });

  test.each(['2021-06-01T10:00:00+0000', '2021-06-01T10:00:00+00:00', '2021-06-01T10:00:00Z'])(
    'a purpose of %s is read',
    async (time) => {
      const body = PURPOSES.replaceAll('2021-06-01T10:00:00.000Z', time);
      const client = await openClient(json(body));
      expect(await client.paymentPurposes.list()).toEqual(JSON.parse(body).documentTypes);
    },
  );

  test.each<[string, string]>([
    ['a number as amount', QUOTE.replace('"250.00"', '250.00')],
    ['a number as rate', QUOTE.replace('"0.920000"', '0.92')],
    ['a number as fee', QUOTE.replace('"0.00"', '0')],
    ['an expiry of another form', QUOTE.replace('03/31/2026 09:05:30', '2026-03-31T09:05:30Z')],
    ['an expiry that does not exist', QUOTE.replace('03/31/2026 09:05:30', '02/30/2026 09:05:30')],
    ['an id that is no integer', QUOTE.replace('1234,', '"1234",')],
    ['another resource', QUOTE.replace('"resourceName": "fxQuote"', '"resourceName": "fxDeal"')],
  ])('a quote with %s', async (_name, body) => {
    const client = await openClient(json(body));
    expect(await failureOf(() => client.fxQuotes.retrieve(1))).toHaveProperty('code', 'answer_invalid');
  });
});

describe('members that are new are accepted, and handed over', () => {
  const extend = (text: string): string =>
    text.replaceAll('{', '{ "brandNew": [1],').replaceAll(/,\s*}/g, '}');

  test('in every answer', async () => {
    const client = await openClient(
      json(extend(QUOTE)),
      json(extend(CHECKS)),
      json(extend(PURPOSES)),
      json(extend(CURRENCIES)),
      json(extend(webhook('WH1'))),
      json(extend(page([webhook('WH1')]))),
      json(extend(webhook('WH1', { secret_signing_key: '"k"' })), 201),
    );
    const brandNew = [1];
    expect(await client.fxQuotes.retrieve(1)).toMatchObject({ brandNew, source: { brandNew } });
    expect(await client.eChecks.findByMerchantTransactionId('a')).toMatchObject({
      brandNew,
      checkInfo: [{ brandNew }],
    });
    expect(await client.paymentPurposes.list()).toMatchObject([{ brandNew }, { brandNew }]);
    expect(await client.currencies.list()).toMatchObject([{ brandNew }, { brandNew }]);
    expect(await client.webhooks.retrieve('WH1')).toMatchObject({ brandNew, authentication: { brandNew } });
    expect((await client.webhooks.list()).webhooks).toMatchObject([{ brandNew }]);
    expect(await client.webhooks.create({ url: 'https://example.com' })).toMatchObject({
      brandNew,
      secret_signing_key: 'k',
      authentication: { brandNew },
    });
  });

  test('and so are a status of a quote and an event type that are new', async () => {
    const client = await openClient(
      json(QUOTE.replace('GENERATED', 'EXPIRED')),
      json(webhook('WH1', { enabled_events: '[{"entity":"refund","types":["made"]}]' })),
    );
    expect((await client.fxQuotes.retrieve(1)).status).toBe('EXPIRED');
    expect((await client.webhooks.retrieve('WH1')).enabled_events).toEqual([
      { entity: 'refund', types: ['made'] },
    ]);
  });
});
