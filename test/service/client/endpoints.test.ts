import { describe, expect, test } from 'vitest';
import { CHECKS, CURRENCIES, PURPOSES, page, QUOTE, webhook } from './literal-bodies.ts';
import { json, type Reply } from './literal-service.ts';
import { openClient } from './open-client.ts';
import { ACCESS_TOKEN, API_KEY, BASIC, JWT, SIGNING_KEY, WEBHOOK_PASSWORD } from './secrets.ts';

const banking = { authorization: `Bearer ${JWT}`, 'x-api-key': API_KEY };
const profile = { authorization: `Bearer ${ACCESS_TOKEN}` };
const administrator = { authorization: `Basic ${BASIC}` };

async function open(reply: Reply) {
  const client = await openClient(reply);
  const only = () => {
    expect(client.requests).toHaveLength(1);
    const [{ line = '', headers = {}, body = '' } = {}] = client.requests;
    return { line, headers, body };
  };
  return { client, only };
}

describe('fxQuotes', () => {
  test('create posts the destination amount, and gives the quote with its expiry as a Date', async () => {
    const { client, only } = await open(json(QUOTE));
    const quote = await client.fxQuotes.create({ destination: { currency: 'EUR', amount: '250.00' } });
    const { line, headers, body } = only();
    expect(line).toBe('POST /banking/us2/v1/transaction/fxQuote');
    expect(headers).toMatchObject({ ...banking, 'content-type': 'application/json' });
    expect(body).toBe('{"destination":{"currency":"EUR","amount":"250.00"}}');
    expect(quote).toMatchObject(JSON.parse(QUOTE));
    expect(quote.expiresAt.toISOString()).toBe('2026-03-31T09:05:30.000Z');
  });

  test('create posts the source amount', async () => {
    const { client, only } = await open(json(QUOTE));
    await client.fxQuotes.create({ destination: { currency: 'EUR' }, source: { amount: '271.74' } });
    expect(only().body).toBe('{"destination":{"currency":"EUR"},"source":{"amount":"271.74"}}');
  });

  test('retrieve gets by id, whatever the status', async () => {
    const { client, only } = await open(json(QUOTE.replace('GENERATED', 'ACCEPTED')));
    const quote = await client.fxQuotes.retrieve(1234);
    const { line, headers, body } = only();
    expect(line).toBe('GET /banking/us2/v1/transaction/fxQuote/id/1234');
    expect(headers).toMatchObject({ ...banking, accept: 'application/json' });
    expect(headers).not.toHaveProperty('content-type');
    expect(body).toBe('');
    expect(quote.status).toBe('ACCEPTED');
  });
});

describe('eChecks.findByMerchantTransactionId', () => {
  test('posts one id', async () => {
    const { client, only } = await open(json(CHECKS));
    const lookup = await client.eChecks.findByMerchantTransactionId('order-1');
    const { line, headers, body } = only();
    expect(line).toBe('POST /banking/echecks/apiServices/uploadChecks.php?GetChecksByMerchantTransID');
    expect(headers).toMatchObject({ ...banking, 'content-type': 'application/json' });
    expect(body).toBe('{"merchantTransID":"order-1","returnCustomFields":"0"}');
    expect(lookup).toEqual(JSON.parse(CHECKS));
  });

  test.each([
    [{ returnCustomFields: '1' }, '{"merchantTransID":"order-1","returnCustomFields":"1"}'],
    [{ inBehalf: '' }, '{"merchantTransID":"order-1","returnCustomFields":"0","inBehalf":""}'],
    [
      { returnCustomFields: 'all', inBehalf: 'merchant-7' },
      '{"merchantTransID":"order-1","returnCustomFields":"all","inBehalf":"merchant-7"}',
    ],
  ])('posts %j as it is given', async (options, expected) => {
    const { client, only } = await open(json(CHECKS));
    await client.eChecks.findByMerchantTransactionId('order-1', options);
    expect(only().body).toBe(expected);
  });

  test('hands over custom fields, of any name and type, with the check', async () => {
    const fields = '"TrackingNumber": "", "Invoice": "I-1", "CustomFields": { "cost center": 7 }';
    const { client } = await open(json(CHECKS.replace('"TrackingNumber": ""', fields)));
    const lookup = await client.eChecks.findByMerchantTransactionId('order-1', { returnCustomFields: '1' });
    const [check] = lookup.checkInfo;
    expect(check?.Invoice).toBe('I-1');
    expect(check?.CustomFields).toEqual({ 'cost center': 7 });
  });

  test('posts a list of ids', async () => {
    const { client, only } = await open(json(CHECKS));
    await client.eChecks.findByMerchantTransactionId(['order-1', 'order-2']);
    expect(only().body).toBe('{"merchantTransID":["order-1","order-2"],"returnCustomFields":"0"}');
  });
});

describe('the reference lists', () => {
  test('paymentPurposes.list gives the entries', async () => {
    const { client, only } = await open(json(PURPOSES));
    const purposes = await client.paymentPurposes.list();
    const { line, headers, body } = only();
    expect(line).toBe('GET /banking/ibans/v2/profile/v2.1/purpose');
    expect(headers).toMatchObject({ ...profile, 'content-type': 'application/json' });
    expect(body).toBe('');
    expect(purposes).toEqual(JSON.parse(PURPOSES).documentTypes);
  });

  test('currencies.list gives the entries', async () => {
    const { client, only } = await open(json(CURRENCIES));
    const currencies = await client.currencies.list();
    const { line, headers, body } = only();
    expect(line).toBe('GET /banking/ibans/v2/profile/v2.1/currencies');
    expect(headers).toMatchObject({ ...profile, 'content-type': 'application/json' });
    expect(body).toBe('');
    expect(currencies).toEqual(JSON.parse(CURRENCIES).data);
  });
});

describe('webhooks', () => {
  test('create posts, and gives the signing key', async () => {
    const created = webhook('WH1', { secret_signing_key: `"${SIGNING_KEY}"` });
    const { client, only } = await open(json(created, 201));
    const answer = await client.webhooks.create({
      url: 'https://example.com/hooks',
      enabled_events: [
        { entity: 'transfer', types: ['succeeded', 'failed'] },
        { entity: 'dispute', types: [] },
      ],
      authentication: { type: 'BASIC', basic: { username: 'hook', password: WEBHOOK_PASSWORD } },
    });
    const { line, headers, body } = only();
    expect(line).toBe('POST /payments/na/webhooks');
    expect(headers).toMatchObject({ ...administrator, 'content-type': 'application/json' });
    expect(body).toBe(
      '{"url":"https://example.com/hooks","enabled_events":[{"entity":"transfer","types":["succeeded","failed"]},' +
        '{"entity":"dispute","types":[]}],' +
        `"authentication":{"type":"BASIC","basic":{"username":"hook","password":"${WEBHOOK_PASSWORD}"}}}`,
    );
    expect(answer).toEqual(JSON.parse(created));
    expect(answer.secret_signing_key).toBe(SIGNING_KEY);
  });

  test('create posts the url alone', async () => {
    const { client, only } = await open(json(webhook('WH1', { secret_signing_key: '"k"' })));
    await client.webhooks.create({ url: 'https://example.com/hooks' });
    expect(only().body).toBe('{"url":"https://example.com/hooks"}');
  });

  test('list gets a page', async () => {
    const body = page([webhook('WH1'), webhook('WH2')], { limit: 2, offset: 4, count: 2 });
    const { client, only } = await open(json(body));
    const list = await client.webhooks.list({ limit: 2, offset: 4 });
    const { line, headers } = only();
    expect(line).toBe('GET /payments/na/webhooks?limit=2&offset=4');
    expect(headers).toMatchObject(administrator);
    expect(list.webhooks.map(({ id }) => id)).toEqual(['WH1', 'WH2']);
    expect(list.page).toEqual({ limit: 2, offset: 4, count: 2 });
  });

  test('list asks for nothing it was not told', async () => {
    const { client, only } = await open(json(page([])));
    expect((await client.webhooks.list()).webhooks).toEqual([]);
    expect(only().line).toBe('GET /payments/na/webhooks');
  });

  test('retrieve gets one', async () => {
    const { client, only } = await open(json(webhook('WH1')));
    expect(await client.webhooks.retrieve('WH1')).toEqual(JSON.parse(webhook('WH1')));
    const { line, headers } = only();
    expect(line).toBe('GET /payments/na/webhooks/WH1');
    expect(headers).toMatchObject(administrator);
  });

  test('update puts what changes and nothing else', async () => {
    const { client, only } = await open(json(webhook('WH1', { enabled: 'false' })));
    const updated = await client.webhooks.update('WH1', { enabled: false, enabled_events: [] });
    const { line, headers, body } = only();
    expect(line).toBe('PUT /payments/na/webhooks/WH1');
    expect(headers).toMatchObject({ ...administrator, 'content-type': 'application/json' });
    expect(body).toBe('{"enabled":false,"enabled_events":[]}');
    expect(updated.enabled).toBe(false);
  });

  test('update puts a url and credentials', async () => {
    const { client, only } = await open(json(webhook('WH1')));
    const authentication = { type: 'BEARER', bearer: { token: 'the-token' } } as const;
    await client.webhooks.update('WH1', { url: 'https://example.com/new', authentication });
    expect(only().body).toBe(
      '{"url":"https://example.com/new","authentication":{"type":"BEARER","bearer":{"token":"the-token"}}}',
    );
  });

  test('an id is encoded into the path', async () => {
    const { client, only } = await open(json(webhook('x')));
    await client.webhooks.retrieve('a/b?c#d %é$&..');
    expect(only().line).toBe('GET /payments/na/webhooks/a%2Fb%3Fc%23d%20%25%C3%A9%24%26..');
  });
});
