import { type Client, ServiceError, type WebhookRequest } from 'posthorn/client';
import { defaultCredentials } from 'posthorn/sandbox';
import { describe, expect, test } from 'vitest';
import { openService } from './service.ts';

const URL = 'https://example.com/hooks';

async function failureOf(call: Promise<unknown>): Promise<ServiceError> {
  const thrown = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof ServiceError) return thrown;
  throw new Error('no ServiceError', { cause: thrown });
}

/** What TypeScript would refuse, as it comes from a program without types. */
const untyped = (members: unknown): WebhookRequest => Object(members);

describe('what the service refuses is a ServiceError with its status, message and details', () => {
  test.each([
    [{ url: 'http://example.com/' }, 'Invalid URL', 'URL must use the HTTPS protocol'],
    [{ url: 'no address' }, 'Invalid URL', 'URL must use the HTTPS protocol'],
    [
      { url: URL, authentication: { type: 'BASIC', basic: { username: 'ann' } } },
      'Invalid authentication configuration',
      'Basic authentication requires username and password',
    ],
    [
      { url: URL, authentication: { type: 'BEARER' } },
      'Invalid authentication configuration',
      'Bearer authentication requires token',
    ],
    [
      { url: URL, authentication: { type: 'DIGEST' } },
      'Invalid authentication configuration',
      'type must be NONE, BASIC or BEARER',
    ],
    [
      { url: URL, enabled_events: [{ entity: 'refund', types: [] }] },
      'Invalid enabled_events',
      expect.stringContaining('Unknown entity type: refund'),
    ],
    [
      { url: URL, enabled_events: [{ entity: 'dispute', types: ['approved'] }] },
      'Invalid enabled_events',
      expect.stringContaining('Unknown event type: dispute.approved'),
    ],
  ])('400 for %j', async (members, message, details) => {
    const { client } = await openService();
    const expected = { name: 'ServiceError', code: 'service_refused', status: 400, message, details };
    expect(await failureOf(client.webhooks.create(untyped(members)))).toMatchObject(expected);
    const { id } = await client.webhooks.create({ url: URL });
    expect(await failureOf(client.webhooks.update(id, untyped(members)))).toMatchObject(expected);
    expect((await client.webhooks.list()).webhooks).toMatchObject([{ id, url: URL, enabled_events: [] }]);
  });

  test('404 for an unknown webhook', async () => {
    const { client } = await openService();
    for (const call of [client.webhooks.retrieve('WH0'), client.webhooks.update('WH0', { enabled: true })]) {
      expect(await failureOf(call)).toMatchObject({
        code: 'service_refused',
        status: 404,
        message: 'Webhook not found',
        details: undefined,
      });
    }
  });

  const administration: readonly [string, (client: Client) => Promise<unknown>][] = [
    ['create', ({ webhooks }) => webhooks.create({ url: URL })],
    ['list', ({ webhooks }) => webhooks.list()],
    ['retrieve', ({ webhooks }) => webhooks.retrieve('WH0')],
    ['update', ({ webhooks }) => webhooks.update('WH0', { enabled: true })],
    ['ensure', ({ webhooks }) => webhooks.ensure({ url: URL })],
    ['rotate', ({ webhooks }) => webhooks.rotate('WH0', { onSigningKey: () => {} })],
  ];

  test.each(administration)('403 for webhooks.%s by a user who is not an administrator', async (_, call) => {
    const { clientWith } = await openService();
    const failure = await failureOf(call(clientWith({ administrator: defaultCredentials.user })));
    expect(failure).toMatchObject({
      code: 'service_refused',
      status: 403,
      message: 'Forbidden',
      details: 'only administrator users may manage webhooks',
    });
  });

  test.each(administration)('401 for webhooks.%s with a wrong password', async (_, call) => {
    const { clientWith } = await openService();
    const administrator = { username: 'sandbox-admin', password: 'wrong-password' };
    const failure = await failureOf(call(clientWith({ administrator })));
    expect(failure).toMatchObject({
      code: 'service_refused',
      status: 401,
      message: 'Unauthorized',
      details: 'HTTP Basic credentials of an administrator are required',
    });
    expect(JSON.stringify(failure)).not.toContain('wrong-password');
  });

  test.each<[string, (client: Client) => Promise<unknown>]>([
    [
      'fxQuotes.create',
      (client) => client.fxQuotes.create({ destination: { currency: 'EUR', amount: '1' } }),
    ],
    ['fxQuotes.retrieve', (client) => client.fxQuotes.retrieve(5001)],
    [
      'eChecks.findByMerchantTransactionId',
      (client) => client.eChecks.findByMerchantTransactionId('MTX-1001'),
    ],
    ['paymentPurposes.list', (client) => client.paymentPurposes.list()],
    ['currencies.list', (client) => client.currencies.list()],
  ])('401 for %s with a wrong token', async (_, call) => {
    const { clientWith } = await openService();
    const client = clientWith({
      banking: { token: 'wrong-token', apiKey: 'sandbox-key' },
      profile: { accessToken: 'wrong-token' },
    });
    expect(await failureOf(call(client))).toMatchObject({
      code: 'service_refused',
      status: 401,
      message: 'Unauthorized',
    });
  });

  test('401 with the right token and a wrong API key', async () => {
    const { clientWith } = await openService();
    const client = clientWith({ banking: { token: 'sandbox-jwt', apiKey: 'wrong' } });
    expect(await failureOf(client.fxQuotes.retrieve(5001))).toMatchObject({ status: 401 });
  });

  test('404 for an unknown quote, and 400 for a currency that cannot be quoted', async () => {
    const { client } = await openService();
    expect(await failureOf(client.fxQuotes.retrieve(1))).toMatchObject({
      status: 404,
      message: 'FX quote not found',
    });
    const usd = client.fxQuotes.create({ destination: { currency: 'USD', amount: '1' } });
    expect(await failureOf(usd)).toMatchObject({ status: 400, message: 'Unsupported currency' });
  });
});
