import { ConfigurationError } from 'posthorn';
import { ServiceError } from 'posthorn/client';
import { expect, test } from 'vitest';
import { CURRENCIES, QUOTE, webhook } from './literal-bodies.ts';
import { inTurn, json } from './literal-service.ts';
import { openClientOf } from './open-client.ts';
import { API_KEY, BASIC, failureOf, JWT, PASSWORD, USERNAME } from './secrets.ts';

test('tokens come from functions, plain and async, asked before each try', async () => {
  const replies = [{ status: 503 }, json(QUOTE), json(CURRENCIES), json(webhook('WH1'))];
  let asked = 0;
  const client = await openClientOf(inTurn(...replies), {
    banking: {
      token: async () => {
        asked += 1;
        return `jwt-${asked}`;
      },
      apiKey: () => API_KEY,
    },
    profile: { accessToken: () => Promise.resolve('access') },
    administrator: { username: USERNAME, password: async () => PASSWORD },
  });
  await client.fxQuotes.retrieve(1234);
  await client.currencies.list();
  await client.webhooks.retrieve('WH1');
  expect(client.requests.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer jwt-1',
    'Bearer jwt-2',
    'Bearer access',
    `Basic ${BASIC}`,
  ]);
  expect(client.requests.map(({ headers }) => headers['x-api-key'])).toEqual([
    API_KEY,
    API_KEY,
    undefined,
    undefined,
  ]);
});

test('a function that throws or rejects: the error names it, and nothing is sent', async () => {
  const broken = new Error('the vault is sealed');
  const sources = [
    () => Promise.reject(broken),
    () => {
      throw broken;
    },
  ];
  for (const token of sources) {
    const { fxQuotes, lines } = await openClientOf(inTurn(), { banking: { token, apiKey: token } });
    const error = await failureOf(() => fxQuotes.retrieve(1));
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({
      code: 'credentials_unavailable',
      message: 'banking.token failed: the vault is sealed',
      cause: broken,
    });
    expect(lines()).toEqual([]);
  }
});

test('a function that hangs is given up after timeoutMs', async () => {
  const profile = { accessToken: () => new Promise<string>(() => {}) };
  const { currencies, lines } = await openClientOf(inTurn(), { profile, timeoutMs: 50 });
  expect(await failureOf(() => currencies.list())).toMatchObject({
    code: 'credentials_unavailable',
    message: 'profile.accessToken failed: no answer in 50 ms',
  });
  expect(lines()).toEqual([]);
});

test.each([`${JWT}\r\nx-evil: 1`, '', 'é'])(
  'a function that gives no token: refused, not shown (%#)',
  async (value) => {
    const banking = { token: () => value, apiKey: API_KEY };
    const { fxQuotes, lines } = await openClientOf(inTurn(), { banking });
    const error = await failureOf(() => fxQuotes.retrieve(1));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toHaveProperty('message', expect.stringContaining('what banking.token gives must be'));
    expect(lines()).toEqual([]);
  },
);
