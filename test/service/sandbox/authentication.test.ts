import { describe, expect, test } from 'vitest';
import { ADMINISTRATOR, BANKING, openSandbox, PROFILE } from './opened-sandbox.ts';

const WEBHOOKS = '/payments/na/webhooks';
const ADMINISTRATOR_ONLY = [
  ['POST', WEBHOOKS],
  ['GET', WEBHOOKS],
  ['GET', `${WEBHOOKS}/WH1`],
  ['PUT', `${WEBHOOKS}/WH1`],
] as const;
const BANKING_ONLY = [
  ['POST', '/banking/us2/v1/transaction/fxQuote'],
  ['GET', '/banking/us2/v1/transaction/fxQuote/id/5001'],
  ['POST', '/banking/echecks/apiServices/uploadChecks.php?GetChecksByMerchantTransID'],
] as const;
const PROFILE_ONLY = [
  ['GET', '/banking/ibans/v2/profile/v2.1/purpose'],
  ['GET', '/banking/ibans/v2/profile/v2.1/currencies'],
] as const;

type Headers = Readonly<Record<string, string>>;

async function expectRefused(
  [method, path]: readonly [string, string],
  headers: Headers,
  status: number,
  message: string,
  challenge: RegExp,
): Promise<void> {
  const { call } = await openSandbox();
  // Malformed on purpose: a stranger is told nothing of the body.
  const body = method === 'GET' ? undefined : '{';
  const reply = await call(method, path, { 'content-type': 'application/json', ...headers }, body);
  expect(reply.body).toEqual({ status, message, details: expect.any(String) });
  expect(reply.status).toBe(status);
  expect(reply.headers.get('www-authenticate')).toMatch(challenge);
  expect(JSON.stringify(reply.body)).not.toMatch(/sandbox-(password|jwt|key|access)/);
}

describe.each(ADMINISTRATOR_ONLY)('%s %s', (...endpoint) => {
  test.each<[string, Headers]>([
    ['no credentials', {}],
    // printf 'sandbox-admin:wrong' | base64
    ['a wrong password', { authorization: 'Basic c2FuZGJveC1hZG1pbjp3cm9uZw==' }],
    ['a bearer token', { authorization: 'Bearer sandbox-jwt' }],
    ['no base64', { authorization: 'Basic ???' }],
  ])('%s: 401', (_, headers) => expectRefused(endpoint, headers, 401, 'Unauthorized', /^Basic /));

  test('a user who is not an administrator: 403', () =>
    expectRefused(
      endpoint,
      // printf 'sandbox-user:sandbox-password' | base64
      { authorization: 'Basic c2FuZGJveC11c2VyOnNhbmRib3gtcGFzc3dvcmQ=' },
      403,
      'Forbidden',
      /^Basic /,
    ));
});

describe.each(BANKING_ONLY)('%s %s', (...endpoint) => {
  test.each<[string, Headers]>([
    ['no credentials', {}],
    ['no API key', { authorization: 'Bearer sandbox-jwt' }],
    ['a wrong API key', { authorization: 'Bearer sandbox-jwt', 'x-api-key': 'wrong' }],
    ['no token', { 'x-api-key': 'sandbox-key' }],
    ['a wrong token', { authorization: 'Bearer wrong', 'x-api-key': 'sandbox-key' }],
    ['the token of the lists', { authorization: 'Bearer sandbox-access', 'x-api-key': 'sandbox-key' }],
  ])('%s: 401', (_, headers) => expectRefused(endpoint, headers, 401, 'Unauthorized', /^Bearer /));
});

describe.each(PROFILE_ONLY)('%s %s', (...endpoint) => {
  test.each<[string, Headers]>([
    ['no credentials', {}],
    ['a wrong token', { authorization: 'Bearer wrong' }],
    ['the token of the quotes', { authorization: 'Bearer sandbox-jwt' }],
    ['basic credentials', { authorization: ADMINISTRATOR.authorization }],
  ])('%s: 401', (_, headers) => expectRefused(endpoint, headers, 401, 'Unauthorized', /^Bearer /));
});

test('the defaults open each area', async () => {
  const { call } = await openSandbox();
  expect((await call('GET', WEBHOOKS, ADMINISTRATOR)).status).toBe(200);
  expect((await call('GET', BANKING_ONLY[1][1], BANKING)).status).toBe(404);
  expect((await call('GET', PROFILE_ONLY[0][1], PROFILE)).status).toBe(200);
});

test('each of the credentials can be changed', async () => {
  const { call } = await openSandbox({
    administrator: { username: 'ann', password: 'a' },
    user: { username: 'bob', password: 'b' },
    banking: { token: 't', apiKey: 'k' },
    profile: { accessToken: 'p' },
  });
  // printf 'ann:a' | base64, printf 'bob:b' | base64
  expect((await call('GET', WEBHOOKS, { authorization: 'Basic YW5uOmE=' })).status).toBe(200);
  expect((await call('GET', WEBHOOKS, { authorization: 'Basic Ym9iOmI=' })).status).toBe(403);
  const banking = { authorization: 'Bearer t', 'x-api-key': 'k' };
  expect((await call('GET', BANKING_ONLY[1][1], banking)).status).toBe(404);
  expect((await call('GET', PROFILE_ONLY[0][1], { authorization: 'Bearer p' })).status).toBe(200);
  expect((await call('GET', WEBHOOKS, ADMINISTRATOR)).status).toBe(401);
});
