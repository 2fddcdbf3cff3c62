import { ConfigurationError, PosthornError, type Receiver } from 'posthorn';
import {
  type Authentication,
  type Client,
  type CreatedWebhook,
  type Currency,
  type CurrencyPage,
  createClient,
  type ECheck,
  type ECheckLookup,
  type EnabledEvents,
  type EnsuredWebhook,
  type FxQuote,
  type FxQuoteRequest,
  type PaymentPurpose,
  type RotatedWebhook,
  type ServiceAnswer,
  ServiceError,
  type WantedWebhook,
  type Webhook,
  type WebhookPage,
  type WebhookRequest,
  type WebhookUpdate,
} from 'posthorn/client';
import { describe, expect, expectTypeOf, test } from 'vitest';

const baseUrl = 'https://api.example.com';

describe('is an error for the compiler', () => {
  test('an amount that is a number, both amounts, and none', () => {
    const { fxQuotes } = createClient({ baseUrl, banking: { token: 't', apiKey: 'k' } });
    const refused = async (call: () => unknown) => expect(call).rejects.toThrow(ConfigurationError);
    const destination = { currency: 'EUR', amount: '1.00' };
    return Promise.all([
      // @ts-expect-error a number
      refused(() => fxQuotes.create({ destination: { currency: 'EUR', amount: 1 } })),
      // @ts-expect-error a number
      refused(() => fxQuotes.create({ destination: { currency: 'EUR' }, source: { amount: 1 } })),
      // @ts-expect-error both
      refused(() => fxQuotes.create({ destination, source: { amount: '1.00' } })),
      // @ts-expect-error neither
      refused(() => fxQuotes.create({ destination: { currency: 'EUR' } })),
      // @ts-expect-error without a currency
      refused(() => fxQuotes.create({ destination: { amount: '1.00' } })),
      // @ts-expect-error the ids of quotes are numbers
      refused(() => fxQuotes.retrieve('1234')),
    ]);
  });

  test('a misspelt entity or type', () => {
    const url = 'https://example.com';
    // @ts-expect-error misspelt
    const entity: WebhookRequest = { url, enabled_events: [{ entity: 'transfr', types: [] }] };
    // @ts-expect-error misspelt
    const type: WebhookRequest = { url, enabled_events: [{ entity: 'transfer', types: ['suceeded'] }] };
    const added: WebhookRequest = { url, enabled_events: [{ entity: 'payout', types: ['made'], any: true }] };
    // @ts-expect-error of another entity
    const foreign: WebhookUpdate = { enabled_events: [{ entity: 'transfer', types: ['won'] }] };
    // @ts-expect-error a misspelt pattern
    const pattern: WebhookRequest = { url, enabled_events: ['transfer.*', 'dispute.win'] };
    // @ts-expect-error nothing lies below a type
    const below: WantedWebhook = { url, enabled_events: ['transfer.created.*'] };
    // @ts-expect-error patterns and filters
    const mixed: WebhookUpdate = { enabled_events: ['transfer.*', { entity: 'dispute', types: [] }] };
    // @ts-expect-error misspelt
    const member: WebhookUpdate = { enabledEvents: [] };
    // @ts-expect-error the key cannot be updated
    const key: WebhookUpdate = { secret_signing_key: 'k' };
    // @ts-expect-error without a url
    const nothing: WebhookRequest = {};
    expect([entity, type, added, foreign, pattern, below, mixed, member, key, nothing]).toHaveLength(10);
  });

  test('credentials of another type', () => {
    // @ts-expect-error BASIC needs basic
    const basic: Authentication = { type: 'BASIC', bearer: { token: 't' } };
    // @ts-expect-error half of it
    const half: Authentication = { type: 'BASIC', basic: { username: 'u' } };
    // @ts-expect-error no such type
    const digest: Authentication = { type: 'DIGEST' };
    expect([basic, half, digest]).toHaveLength(3);
  });

  test('a wrong option', () => {
    // @ts-expect-error missing
    expect(() => createClient({})).toThrow(ConfigurationError);
    // @ts-expect-error unknown
    expect(() => createClient({ baseUrl, retries: 3 })).toThrow(ConfigurationError);
    // @ts-expect-error half of it
    expect(() => createClient({ baseUrl, banking: { token: 't' } })).toThrow(ConfigurationError);
    // @ts-expect-error no text
    expect(() => createClient({ baseUrl, profile: { accessToken: 5 } })).toThrow(ConfigurationError);
  });
});

test('what the methods give', () => {
  expectTypeOf<Client['webhooks']['create']>().returns.resolves.toEqualTypeOf<CreatedWebhook>();
  expectTypeOf<CreatedWebhook['secret_signing_key']>().toEqualTypeOf<string>();
  expectTypeOf<Webhook['secret_signing_key']>().toEqualTypeOf<string | null>();
  expectTypeOf<Client['webhooks']['list']>().returns.resolves.toEqualTypeOf<WebhookPage>();
  expectTypeOf<Client['webhooks']['listAll']>().returns.toEqualTypeOf<AsyncIterable<Webhook>>();
  expectTypeOf<Client['webhooks']['retrieve']>().returns.resolves.toEqualTypeOf<Webhook>();
  expectTypeOf<Client['webhooks']['update']>().returns.resolves.toEqualTypeOf<Webhook>();
  expectTypeOf<Client['webhooks']['ensure']>().returns.resolves.toEqualTypeOf<EnsuredWebhook>();
  expectTypeOf<EnsuredWebhook['signingKey']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<Client['webhooks']['rotate']>().returns.resolves.toEqualTypeOf<RotatedWebhook>();
  expectTypeOf<Client['fxQuotes']['create']>().returns.resolves.toEqualTypeOf<FxQuote>();
  expectTypeOf<FxQuote['expiresAt']>().toEqualTypeOf<Date>();
  expectTypeOf<FxQuote['source']['amount']>().toEqualTypeOf<string>();
  expectTypeOf<Client['fxQuotes']['retrieve']>().returns.resolves.toEqualTypeOf<FxQuote>();
  expectTypeOf<
    Client['eChecks']['findByMerchantTransactionId']
  >().returns.resolves.toEqualTypeOf<ECheckLookup>();
  expectTypeOf<Client['paymentPurposes']['list']>().returns.resolves.toEqualTypeOf<
    readonly PaymentPurpose[]
  >();
  expectTypeOf<Client['currencies']['list']>().returns.resolves.toEqualTypeOf<readonly Currency[]>();
  expectTypeOf<Client['currencies']['listPage']>().returns.resolves.toEqualTypeOf<CurrencyPage>();
  expectTypeOf<Client['request']>().returns.resolves.toEqualTypeOf<ServiceAnswer>();
  expectTypeOf<ServiceAnswer['body']>().toBeUnknown();
  expectTypeOf<ECheck['Amount']>().toBeString();
  expectTypeOf<ECheck['a custom field']>().toBeUnknown();
});

test('what they take', () => {
  expectTypeOf<{ destination: { currency: string; amount: string } }>().toExtend<FxQuoteRequest>();
  expectTypeOf<{
    destination: { currency: string };
    source: { amount: string };
  }>().toExtend<FxQuoteRequest>();
  const patterns: WebhookRequest = {
    url: baseUrl,
    enabled_events: ['transfer.*', 'dispute.created', 'merchant.verification.*'],
  };
  const every: WebhookUpdate = { enabled_events: ['*'] };
  const none: WantedWebhook = { url: baseUrl, enabled_events: [] };
  expect([patterns, every, none]).toHaveLength(3);
  expectTypeOf<ReturnType<Receiver['eventFilters']>>().toExtend<EnabledEvents>();
  expectTypeOf<Client['eChecks']['findByMerchantTransactionId']>()
    .parameter(0)
    .toEqualTypeOf<string | readonly string[]>();
});

test('a ServiceError is a PosthornError with facts', () => {
  const error = new ServiceError('service_refused', 'Webhook not found', { status: 404 });
  expect(error).toBeInstanceOf(PosthornError);
  expectTypeOf(error.status).toEqualTypeOf<number | undefined>();
  expectTypeOf(error.details).toEqualTypeOf<string | undefined>();
  expectTypeOf<'answer_invalid'>().toExtend<typeof error.code>();
  // @ts-expect-error no such code
  expectTypeOf<'answer_wrong'>().toExtend<typeof error.code>();
});
