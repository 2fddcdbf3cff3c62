import { expect, test } from 'vitest';
import { BANKING, openSandbox, PROFILE } from './opened-sandbox.ts';

const PURPOSES = '/banking/ibans/v2/profile/v2.1/purpose';
const CURRENCIES = '/banking/ibans/v2/profile/v2.1/currencies';
const LOGIN = '/banking/ibans/v2/users/login';

/** Interface, "Payment purpose entry", typed by hand. */
const ROWS = [
  [3, 'Purchase of Good(s)'],
  [4, 'Purchase of Professional Service(s)'],
  [5, 'Professional fees payment(i.e. legal, accountant)'],
  [6, 'Payroll/Personnel Payment'],
  [7, 'Payment for a loan or deposit'],
  [8, 'Bill payment(i.e. credit card, utility)'],
  [9, 'Research and Development'],
  [10, 'Payment, Family Assistance'],
  [11, 'Medical Assistance'],
  [12, 'Medical Claim Reimbursement'],
  [13, 'Remittance of funds from e-commerce'],
  [14, 'IP Trademark Patent Work'],
  [15, 'Travel/Hospitality'],
  [16, 'Publisher'],
  [17, 'Investment'],
  [18, 'Wallet Top Up'],
  [19, 'Internal Company Transfer'],
];

const ISO_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

test('the 17 purposes as they are listed', async () => {
  const { call } = await openSandbox();
  const reply = await call('GET', PURPOSES, PROFILE);
  expect(reply.status).toBe(200);
  expect(reply.body).toEqual({
    success: true,
    documentTypes: ROWS.map(([id, title]) => ({
      id,
      category: 'Payment Purpose',
      title,
      createdAt: expect.stringMatching(ISO_UTC),
      updatedAt: expect.stringMatching(ISO_UTC),
    })),
  });
});

interface CurrencyAnswer {
  readonly success: boolean;
  readonly data: readonly {
    readonly id: number;
    readonly currencyName: string;
    readonly countryName: string;
  }[];
  readonly metadata: { readonly total: number; readonly currentPage: number; readonly pageSize: number };
}

test('the currencies with their countries, all on one page', async () => {
  const { call } = await openSandbox();
  const reply = await call('GET', CURRENCIES, PROFILE);
  expect(reply.status).toBe(200);
  const { success, data, metadata } = reply.body as CurrencyAnswer;
  expect(success).toBe(true);
  expect(metadata).toEqual({ total: data.length, currentPage: 1, pageSize: data.length });
  expect(new Set(data.map(({ id }) => id)).size).toBe(data.length);
  expect(data).toContainEqual({ id: expect.any(Number), currencyName: 'EUR', countryName: 'Germany' });
  expect(data).toContainEqual({ id: expect.any(Number), currencyName: 'GBP', countryName: 'United Kingdom' });
  expect(new Set(data.map((entry) => Object.keys(entry).join()))).toEqual(
    new Set(['id,currencyName,countryName']),
  );
});

test('every listed currency can be quoted', async () => {
  const { call } = await openSandbox();
  const { data } = (await call('GET', CURRENCIES, PROFILE)).body as CurrencyAnswer;
  for (const currency of new Set(data.map(({ currencyName }) => currencyName))) {
    const body = `{"destination":{"currency":"${currency}"},"source":{"amount":"1000.00"}}`;
    const reply = await call('POST', '/banking/us2/v1/transaction/fxQuote', BANKING, body);
    expect(reply, currency).toMatchObject({
      status: 200,
      body: { destination: { currency }, fxRate: expect.stringMatching(/^\d+\.\d{6}$/) },
    });
  }
});

test('the login issues the token that opens the lists', async () => {
  const { call } = await openSandbox({ profile: { accessToken: 'opened' } });
  const credentials = '{"username":"sandbox-admin","password":"sandbox-password"}';
  const reply = await call('POST', LOGIN, { 'content-type': 'application/json' }, credentials);
  expect(reply.status).toBe(200);
  const { accessToken } = reply.body as { accessToken: string };
  expect(accessToken).toBe('opened');
  const lists = await call('GET', PURPOSES, { authorization: `Bearer ${accessToken}` });
  expect(lists.status).toBe(200);
});

test.each([
  ['{"username":"sandbox-admin","password":"wrong"}', 401, 'Unauthorized'],
  ['{"username":"nobody","password":"sandbox-password"}', 401, 'Unauthorized'],
  ['{"username":"sandbox-admin"}', 400, 'Invalid login'],
])('a login with %s is refused', async (body, status, message) => {
  const { call } = await openSandbox();
  const reply = await call('POST', LOGIN, { 'content-type': 'application/json' }, body);
  expect(reply).toMatchObject({ status, body: { status, message } });
});
