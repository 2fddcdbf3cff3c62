import { ConfigurationError } from 'posthorn';
import { type ClientOptions, createClient } from 'posthorn/client';
import { describe, expect, test } from 'vitest';
import { readAll } from '../../support/read-all.ts';
import { webhook } from './literal-bodies.ts';
import { inTurn, json, openLiteralService } from './literal-service.ts';
import { clientOf, expectNoSecret, failureOf, JWT, PASSWORD } from './secrets.ts';

describe('baseUrl', () => {
  test.each(['', '/', '//', '/gate/way', '/gate/way/'])('may end in "%s"', async (end) => {
    const { url, lines } = await openLiteralService(inTurn(json(webhook('WH1'))));
    await clientOf(`${url}${end}`).webhooks.retrieve('WH1');
    expect(lines()).toEqual([`GET ${end.replace(/\/+$/, '')}/payments/na/webhooks/WH1`]);
  });

  test.each([
    '',
    'api.example.com',
    '/api',
    'ftp://example.com',
    `https://admin:${JWT}@example.com`,
    `nonsense:${JWT}`,
    'https://example.com/?a=b',
    'https://example.com/#a',
  ])('"%s" is refused, and not shown', async (baseUrl) => {
    const error = await failureOf(() => createClient({ baseUrl }));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toHaveProperty('message', expect.stringContaining('baseUrl must be an absolute'));
  });
});

const baseUrl = 'https://api.example.com';

/** Options as a program without types would give them. */
function untyped(options: unknown): ClientOptions {
  return options as ClientOptions;
}

test.each<[unknown, string]>([
  [undefined, 'createClient takes an object of options'],
  [{}, 'baseUrl must be'],
  [{ baseUrl: 5 }, 'baseUrl must be'],
  [{ baseUrl, timeout: 5 }, '"timeout" is not an option of createClient'],
  [{ baseUrl, timeoutMs: 0 }, 'timeoutMs must be'],
  [{ baseUrl, timeoutMs: null }, 'timeoutMs must be'],
  [{ baseUrl, timeoutMs: 2 ** 31 }, 'timeoutMs must be'],
  [{ baseUrl, maxAnswerBytes: 0 }, 'maxAnswerBytes must be'],
  [{ baseUrl, maxAnswerBytes: 2 ** 28 + 1 }, 'maxAnswerBytes must be'],
  [{ baseUrl, maxAnswerBytes: Number.POSITIVE_INFINITY }, 'maxAnswerBytes must be'],
  [{ baseUrl, maxItems: 0 }, 'maxItems must be'],
  [{ baseUrl, maxItems: null }, 'maxItems must be'],
  [{ baseUrl, maxItems: '5' }, 'maxItems must be'],
  [{ baseUrl, maxItems: Number.POSITIVE_INFINITY }, 'maxItems must be'],
  [{ baseUrl, banking: { token: JWT } }, 'banking.apiKey must be'],
  [{ baseUrl, banking: { token: '', apiKey: 'k' } }, 'banking.token must be'],
  [{ baseUrl, banking: { token: `${JWT}\n`, apiKey: 'k' } }, 'banking.token must be'],
  [{ baseUrl, banking: JWT }, 'banking must be an object with token and apiKey'],
  [{ baseUrl, banking: { token: JWT, apiKey: 'k', key: 'k' } }, '"key" is not an option of banking'],
  [{ baseUrl, profile: {} }, 'profile.accessToken must be'],
  [{ baseUrl, profile: { accessToken: 'two words' } }, 'profile.accessToken must be'],
  [{ baseUrl, profile: null }, 'profile must be an object with accessToken'],
  [{ baseUrl, administrator: { username: 'admin' } }, 'administrator.password must be'],
  [{ baseUrl, administrator: { username: '', password: PASSWORD } }, 'administrator.username must be'],
  [{ baseUrl, administrator: { username: 'a:b', password: PASSWORD } }, 'administrator.username must be'],
  [
    { baseUrl, administrator: { username: 'admin', password: `${PASSWORD}\u0000` } },
    'administrator.password must be',
  ],
])('wrong options %#: refused by name', async (options, message) => {
  const error = await failureOf(() => createClient(untyped(options)));
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(error).toMatchObject({ code: 'configuration_invalid', message: expect.stringContaining(message) });
});

describe('an area that was left out', () => {
  const bare = createClient({ baseUrl });
  test.each<[string, () => unknown, string]>([
    [
      'fxQuotes.create',
      () => bare.fxQuotes.create({ destination: { currency: 'EUR', amount: '1.00' } }),
      'banking: { token, apiKey }',
    ],
    ['fxQuotes.retrieve', () => bare.fxQuotes.retrieve(1), 'banking: { token, apiKey }'],
    [
      'eChecks.findByMerchantTransactionId',
      () => bare.eChecks.findByMerchantTransactionId('a'),
      'banking: { token, apiKey }',
    ],
    ['paymentPurposes.list', () => bare.paymentPurposes.list(), 'profile: { accessToken }'],
    ['currencies.list', () => bare.currencies.list(), 'profile: { accessToken }'],
    [
      'webhooks.create',
      () => bare.webhooks.create({ url: 'https://example.com' }),
      'administrator: { username, password }',
    ],
    ['webhooks.list', () => bare.webhooks.list(), 'administrator: { username, password }'],
    ['webhooks.list', () => readAll(bare.webhooks.listAll()), 'administrator: { username, password }'],
    ['webhooks.retrieve', () => bare.webhooks.retrieve('WH1'), 'administrator: { username, password }'],
    ['webhooks.update', () => bare.webhooks.update('WH1', {}), 'administrator: { username, password }'],
    [
      'webhooks.list',
      () => bare.webhooks.ensure({ url: 'https://example.com' }),
      'administrator: { username, password }',
    ],
    [
      'webhooks.retrieve',
      () => bare.webhooks.rotate('WH1', { onSigningKey() {} }),
      'administrator: { username, password }',
    ],
  ])('%s says what is missing (%#)', async (name, call, needed) => {
    const error = await failureOf(call);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toHaveProperty('message', `${name} needs ${needed} among the options of createClient`);
  });
});

test('a client shows nothing of its credentials', () => {
  const client = clientOf(baseUrl);
  expectNoSecret(client);
  expectNoSecret(Object.values(client));
});

test.each<[string, () => unknown, string]>([
  ['retrieve("")', () => clientOf(baseUrl).webhooks.retrieve(''), 'takes the id of a webhook'],
  ['retrieve(".")', () => clientOf(baseUrl).webhooks.retrieve('.'), 'takes the id of a webhook'],
  ['retrieve("..")', () => clientOf(baseUrl).webhooks.retrieve('..'), 'takes the id of a webhook'],
  ['retrieve("\\ud800")', () => clientOf(baseUrl).webhooks.retrieve('\ud800'), 'takes the id of a webhook'],
  ['update("..")', () => clientOf(baseUrl).webhooks.update('..', {}), 'takes the id of a webhook'],
  [
    'list limit 0',
    () => clientOf(baseUrl).webhooks.list({ limit: 0 }),
    'limit of webhooks.list must be a whole number from 1 to 100',
  ],
  [
    'list limit 101',
    () => clientOf(baseUrl).webhooks.list({ limit: 101 }),
    'limit of webhooks.list must be a whole number from 1 to 100',
  ],
  [
    'list offset -1',
    () => clientOf(baseUrl).webhooks.list({ offset: -1 }),
    'offset of webhooks.list must be',
  ],
  [
    'fxQuotes.retrieve 1.5',
    () => clientOf(baseUrl).fxQuotes.retrieve(1.5),
    'takes the integer id of a quote',
  ],
  [
    'no ids',
    () => clientOf(baseUrl).eChecks.findByMerchantTransactionId([]),
    'takes one id, or a list of at least one, and no empty id',
  ],
  [
    'an empty id',
    () => clientOf(baseUrl).eChecks.findByMerchantTransactionId(['a', '']),
    'takes one id, or a list of at least one, and no empty id',
  ],
  [
    'a flag that is no text',
    // @ts-expect-error a number
    () => clientOf(baseUrl).eChecks.findByMerchantTransactionId('a', { returnCustomFields: 1 }),
    'returnCustomFields and inBehalf are texts',
  ],
  [
    'a misspelt option of a lookup',
    // @ts-expect-error misspelt
    () => clientOf(baseUrl).eChecks.findByMerchantTransactionId('a', { onBehalf: '' }),
    '"onBehalf" is not an option of the last argument of eChecks.findByMerchantTransactionId',
  ],
  [
    'force without a flag',
    () => clientOf(baseUrl).webhooks.ensure({ url: 'https://example.com' }, { force: true }),
    'force of webhooks.ensure needs enabled',
  ],
  [
    'force that is no boolean',
    // @ts-expect-error a text
    () => clientOf(baseUrl).webhooks.ensure({ url: 'https://example.com', enabled: true }, { force: 'yes' }),
    'force of webhooks.ensure must be true or false, got "yes"',
  ],
  [
    'a misspelt option of ensure',
    // @ts-expect-error misspelt
    () => clientOf(baseUrl).webhooks.ensure({ url: 'https://example.com' }, { forced: true }),
    '"forced" is not an option of the last argument of webhooks.ensure',
  ],
])('a wrong argument is refused before anything is sent: %s', async (_name, call, message) => {
  const error = await failureOf(call);
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(error).toHaveProperty('message', expect.stringContaining(message));
});
