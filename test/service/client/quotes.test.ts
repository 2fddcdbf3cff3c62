import { ConfigurationError } from 'posthorn';
import { type FxQuoteRequest, ServiceError } from 'posthorn/client';
import { describe, expect, test } from 'vitest';
import { errorOf } from '../../support/error-of.ts';
import { CHECKS, CURRENCIES, QUOTE } from './literal-bodies.ts';
import { json } from './literal-service.ts';
import { openClient } from './open-client.ts';
import { failureOf } from './secrets.ts';

describe('the expiry of a quote', () => {
  const expiry = Date.UTC(2026, 2, 31, 9, 5, 30);

  test('is read as UTC, whatever the zone here', async () => {
    const quote = await (await openClient(json(QUOTE))).fxQuotes.retrieve(1234);
    expect(quote.expiresAt).toEqual(new Date('2026-03-31T09:05:30Z'));
    expect(quote.fxQuoteExpiry).toBe('03/31/2026 09:05:30');
  });

  test('isExpired: not before it, and from it on', async () => {
    const { isExpired } = await (await openClient(json(QUOTE))).fxQuotes.retrieve(1234);
    expect([expiry - 1, expiry, expiry + 1].map((now) => isExpired(now))).toEqual([false, true, true]);
    expect(isExpired(new Date(expiry - 1))).toBe(false);
    expect(isExpired(new Date(expiry))).toBe(true);
  });

  test('isExpired asks for the present where no time is given', async () => {
    const past = await (await openClient(json(QUOTE.replaceAll('2026', '2020')))).fxQuotes.retrieve(1234);
    const future = await (await openClient(json(QUOTE.replaceAll('2026', '2126')))).fxQuotes.retrieve(1234);
    expect([past.isExpired(), future.isExpired()]).toEqual([true, false]);
  });
});

test('amounts stay the decimal strings that they are', async () => {
  const quote = await (
    await openClient(json(QUOTE.replace('271.74', '90071992547409931.10').replace('0.920000', '0.100000')))
  ).fxQuotes.retrieve(1);
  expect([quote.source.amount, quote.fxRate, quote.fee]).toEqual([
    '90071992547409931.10',
    '0.100000',
    '0.00',
  ]);
});

/** A request as a program without types would make it. */
function untyped(request: unknown): FxQuoteRequest {
  return request as FxQuoteRequest;
}

describe('a wrong request is refused before it is sent', () => {
  const destination = { currency: 'EUR' };
  test.each<[string, unknown, string]>([
    [
      'a number as destination amount',
      { destination: { ...destination, amount: 125 } },
      'destination.amount must be a decimal number as a string',
    ],
    [
      'a number as source amount',
      { destination, source: { amount: 0.1 } },
      'source.amount must be a decimal number as a string',
    ],
    [
      'a bigint',
      { destination, source: { amount: 1n } },
      'source.amount must be a decimal number as a string',
    ],
    [
      'both amounts',
      { destination: { ...destination, amount: '1.00' }, source: { amount: '1.00' } },
      'exactly one of',
    ],
    ['no amount', { destination }, 'exactly one of'],
    ['an empty source', { destination, source: {} }, 'exactly one of'],
    ['no destination', { source: { amount: '1.00' } }, 'exactly one of'],
    ['no currency', { destination: { amount: '1.00' } }, 'exactly one of'],
    [
      'a currency of two letters',
      { destination: { currency: 'EU', amount: '1.00' } },
      'destination.currency: must be a three-letter ISO currency code',
    ],
    [
      'an amount with a comma',
      { destination: { currency: 'EUR', amount: '1,00' } },
      'must be a decimal number',
    ],
    ['an exponent', { destination: { currency: 'EUR', amount: '1e3' } }, 'must be a decimal number'],
    ['a negative amount', { destination: { currency: 'EUR', amount: '-1.00' } }, 'must be a decimal number'],
    ['an amount of 0', { destination: { currency: 'EUR', amount: '0.00' } }, 'must be above 0'],
    ['nothing', undefined, 'exactly one of'],
  ])('%s', async (_name, request, complaint) => {
    const { fxQuotes, requests } = await openClient();
    const error = await failureOf(() => fxQuotes.create(untyped(request)));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toHaveProperty('message', expect.stringContaining(complaint));
    expect(requests).toEqual([]);
  });
});

describe('an eCheck lookup with an errorCode', () => {
  test.each<[string, string, number, string]>([
    ['and nothing else', '{"errorCode":12,"errorMessage":"Merchant unknown"}', 12, 'Merchant unknown'],
    [
      'and empty members',
      CHECKS.replace('"errorCode": 0', '"errorCode": -3').replace(
        '"errorMessage": ""',
        '"errorMessage": "No"',
      ),
      -3,
      'No',
    ],
    [
      'without a message',
      '{"errorCode":5,"errorMessage":""}',
      5,
      'the eCheck lookup failed with errorCode 5',
    ],
  ])('%s: e_check_failed', async (_name, body, errorCode, message) => {
    const client = await openClient(json(body));
    const error = await failureOf(() => client.eChecks.findByMerchantTransactionId('order-1'));
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ code: 'e_check_failed', status: 200, errorCode, message });
  });

  test('of 0 without the checks is answer_invalid', async () => {
    const client = await openClient(json('{"errorCode":0,"errorMessage":""}'));
    expect(await failureOf(() => client.eChecks.findByMerchantTransactionId('order-1'))).toMatchObject(
      errorOf('answer_invalid', 'checkInfo'),
    );
  });
});

describe('a reference list', () => {
  test.each(['paymentPurposes', 'currencies'] as const)('%s with success: false is refused', async (name) => {
    const client = await openClient(json('{"success":false}'));
    expect(await failureOf(() => client[name].list())).toMatchObject({
      code: 'service_refused',
      status: 200,
      message: expect.stringMatching(/^the service answered GET .* with success: false$/),
    });
  });

  const metadata = '{ "total": 2, "currentPage": 1, "pageSize": 50 }';

  test('of currencies of which there are more is not cut in silence', async () => {
    const client = await openClient(
      json(CURRENCIES.replace(metadata, '{ "total": 180, "currentPage": 1, "pageSize": 2 }')),
    );
    expect(await failureOf(() => client.currencies.list())).toMatchObject(
      errorOf('list_incomplete', 'the service sent 2 of 180 currencies'),
    );
  });

  test.each([
    '{ "total": 2, "currentPage": 0, "pageSize": 50 }',
    '{ "total": 2, "currentPage": 1, "pageSize": 2 }',
    '{ "total": 0, "currentPage": 1, "pageSize": 0 }',
    '{ "total": 3, "currentPage": 1, "pageSize": 50 }',
  ])('of currencies with %s is whole', async (other) => {
    const client = await openClient(json(CURRENCIES.replace(metadata, other)));
    expect(await client.currencies.list()).toHaveLength(2);
  });
});
