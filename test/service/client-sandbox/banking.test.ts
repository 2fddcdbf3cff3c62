import { RefusedError } from 'posthorn/sandbox';
import { describe, expect, test } from 'vitest';
import { FIRST_CHECK, NEW_QUOTE } from '../shapes/sandbox-bodies.ts';
import { openService } from './service.ts';

describe('client.fxQuotes', () => {
  test('create by the amount that must arrive', async () => {
    const { client } = await openService();
    const quote = await client.fxQuotes.create({ destination: { currency: 'JPY', amount: '151237' } });
    expect(quote).toEqual({
      ...NEW_QUOTE,
      url: `v1/customer/id/1001/transaction/fxQuote/id/${quote.id}`,
      id: expect.any(Number),
      destination: { amount: '151237.00', currency: 'JPY' },
      source: { amount: '1000.00', currency: 'USD' },
      fxRate: '151.237000',
      expiresAt: new Date('2026-03-01T12:00:30Z'),
      isExpired: expect.any(Function),
    });
  });

  test('create by the amount that is debited', async () => {
    const { client } = await openService();
    // 99999999999999.99 USD is beyond what a float can hold to the cent.
    const quote = await client.fxQuotes.create({
      destination: { currency: 'AED' },
      source: { amount: '99999999999999.99' },
    });
    expect(quote.source).toEqual({ amount: '99999999999999.99', currency: 'USD' });
    // `echo '99999999999999.99 * 3.6725' | bc` is 367249999999999.963275.
    expect(quote.destination).toEqual({ amount: '367249999999999.96', currency: 'AED' });
  });

  test('a quote expires 30 seconds after its creation, by the clock of the sandbox', async () => {
    const { client, sandbox } = await openService();
    const quote = await client.fxQuotes.create({ destination: { currency: 'EUR', amount: '10.00' } });
    const { now, advance } = sandbox.clock;
    expect(quote.isExpired(now())).toBe(false);
    await advance(29_749);
    expect(quote.isExpired(now())).toBe(false);
    await advance(1);
    expect(now()).toBe(quote.expiresAt.getTime());
    expect(quote.isExpired(now())).toBe(true);
    // The text of the expiry is cut to the second; the sandbox still accepts until the 30 seconds are over.
    await advance(250);
    expect(() => sandbox.acceptQuote(quote.id)).toThrow(RefusedError);
    const found = await client.fxQuotes.retrieve(quote.id);
    expect(found.status).toBe('GENERATED');
    expect(found.isExpired(now())).toBe(true);
  });

  test('a quote that a transaction uses is ACCEPTED, with a new lastUpdatedOn', async () => {
    const { client, sandbox } = await openService();
    const { isExpired: _, ...quote } = await client.fxQuotes.create({
      destination: { currency: 'EUR', amount: '10.00' },
    });
    await sandbox.clock.advance(7_000);
    sandbox.acceptQuote(quote.id);
    expect(await client.fxQuotes.retrieve(quote.id)).toEqual({
      ...quote,
      status: 'ACCEPTED',
      lastUpdatedOn: '03/01/2026 12:00:07',
      isExpired: expect.any(Function),
    });
  });
});

describe('client.eChecks', () => {
  const found = async (ids: string | readonly string[]): Promise<unknown> => {
    const { client } = await openService();
    const lookup = await client.eChecks.findByMerchantTransactionId(ids);
    expect(lookup).toMatchObject({
      errorCode: 0,
      errorMessage: '',
      bankName: 'First Sandbox Bank',
      bankAlias: 'Operating account',
      accountLast4: '6789',
    });
    return lookup.checkInfo.map(({ MerchantTransID, BundleID }) => `${MerchantTransID} ${BundleID}`);
  };

  test.each([
    ['MTX-1001', ['MTX-1001 70001-1']],
    ['MTX-1002', ['MTX-1002 70002-1', 'MTX-1002 70002-2']],
    [
      ['MTX-1001', 'MTX-1002'],
      ['MTX-1001 70001-1', 'MTX-1002 70002-1', 'MTX-1002 70002-2'],
    ],
    [['MTX-1003', 'MTX-none'], ['MTX-1003 70003-1']],
    ['MTX-none', []],
  ])('of %j are %j', async (ids, checks) => {
    expect(await found(ids)).toEqual(checks);
  });

  test('a check holds texts only', async () => {
    const { client } = await openService();
    const { checkInfo } = await client.eChecks.findByMerchantTransactionId('MTX-1001');
    expect(checkInfo).toEqual([FIRST_CHECK]);
  });

  test('a lookup that fails is a ServiceError with its errorCode', async () => {
    const { client, gateway } = await openService();
    gateway.rewrite((url) => url.replace('GetChecksByMerchantTransID', 'GetNothing'));
    await expect(client.eChecks.findByMerchantTransactionId('MTX-1001')).rejects.toMatchObject({
      name: 'ServiceError',
      code: 'e_check_failed',
      status: 200,
      errorCode: 2,
      message: 'unknown function; the query must be ?GetChecksByMerchantTransID',
    });
  });
});

describe('the reference lists', () => {
  test('client.paymentPurposes gives the 17 purposes of the interface', async () => {
    const { client } = await openService();
    const purposes = await client.paymentPurposes.list();
    expect(purposes.map(({ id, category, title }) => `${id} | ${category} | ${title}`)).toEqual([
      '3 | Payment Purpose | Purchase of Good(s)',
      '4 | Payment Purpose | Purchase of Professional Service(s)',
      '5 | Payment Purpose | Professional fees payment(i.e. legal, accountant)',
      '6 | Payment Purpose | Payroll/Personnel Payment',
      '7 | Payment Purpose | Payment for a loan or deposit',
      '8 | Payment Purpose | Bill payment(i.e. credit card, utility)',
      '9 | Payment Purpose | Research and Development',
      '10 | Payment Purpose | Payment, Family Assistance',
      '11 | Payment Purpose | Medical Assistance',
      '12 | Payment Purpose | Medical Claim Reimbursement',
      '13 | Payment Purpose | Remittance of funds from e-commerce',
      '14 | Payment Purpose | IP Trademark Patent Work',
      '15 | Payment Purpose | Travel/Hospitality',
      '16 | Payment Purpose | Publisher',
      '17 | Payment Purpose | Investment',
      '18 | Payment Purpose | Wallet Top Up',
      '19 | Payment Purpose | Internal Company Transfer',
    ]);
    for (const { createdAt, updatedAt } of purposes) {
      for (const time of [createdAt, updatedAt]) expect(new Date(time).toISOString()).toBe(time);
    }
  });

  test('client.currencies gives the currencies, each of which can be quoted', async () => {
    const { client } = await openService();
    const currencies = await client.currencies.list();
    expect(currencies).toContainEqual({
      id: expect.any(Number),
      currencyName: 'EUR',
      countryName: 'Germany',
    });
    expect(new Set(currencies.map(({ id }) => id)).size).toBe(currencies.length);
    for (const currency of new Set(currencies.map(({ currencyName }) => currencyName))) {
      const quote = await client.fxQuotes.create({ destination: { currency }, source: { amount: '100.00' } });
      expect(quote.destination.currency).toBe(currency);
    }
  });
});
