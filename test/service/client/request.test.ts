import { ConfigurationError } from 'posthorn';
import { createClient, type RequestMethod, type RequestOptions, ServiceError } from 'posthorn/client';
import { describe, expect, test } from 'vitest';
import { inTurn, json, openLiteralService, type Reply } from './literal-service.ts';
import { openClient } from './open-client.ts';
import {
  ACCESS_TOKEN,
  API_KEY,
  BASIC,
  failureOf,
  JWT,
  PASSWORD,
  SIGNING_KEY,
  WEBHOOK_PASSWORD,
} from './secrets.ts';

describe('client.request', () => {
  test.each<[RequestOptions['credentials'], Record<string, unknown>]>([
    ['administrator', { authorization: `Basic ${BASIC}` }],
    ['banking', { authorization: `Bearer ${JWT}`, 'x-api-key': API_KEY }],
    ['profile', { authorization: `Bearer ${ACCESS_TOKEN}` }],
    ['none', {}],
  ])('sends the credentials of %s and no others', async (credentials, expected) => {
    const { request, requests } = await openClient(json('{}'));
    await request('GET', '/payments/na/transfers/TR1', { credentials });
    const { authorization, 'x-api-key': apiKey, accept } = requests[0]?.headers ?? {};
    expect({ authorization, 'x-api-key': apiKey }).toEqual({
      authorization: undefined,
      'x-api-key': undefined,
      ...expected,
    });
    expect(accept).toBe('application/json');
  });

  test.each<RequestMethod>(['POST', 'PUT', 'PATCH', 'DELETE'])(
    'sends a body as JSON by %s',
    async (method) => {
      const { request, requests } = await openClient(json('{"id":7}', 201));
      const body = { currency: 'EUR', lines: [1, null] };
      const answer = await request(method, '/banking/us2/v1/wire', { credentials: 'banking', body });
      expect(answer).toEqual({ status: 201, text: '{"id":7}', body: { id: 7 } });
      expect(requests).toMatchObject([
        {
          line: `${method} /banking/us2/v1/wire`,
          body: '{"currency":"EUR","lines":[1,null]}',
          headers: { 'content-type': 'application/json' },
        },
      ]);
    },
  );

  test('adds a query, also to a path that has one', async () => {
    const { request, lines } = await openClient(json('[]'), json('[]'));
    const query = { page: 2, name: 'a b&c', all: true, none: undefined };
    await request('GET', '/things', { credentials: 'banking', query });
    await request('GET', '/script.php?GetThings', { credentials: 'banking', query: { id: 1 } });
    expect(lines()).toEqual(['GET /things?page=2&name=a+b%26c&all=true', 'GET /script.php?GetThings&id=1']);
  });

  test.each<[Reply, object]>([
    [{ status: 204 }, { status: 204, text: '', body: undefined }],
    [
      { status: 200, body: 'a;b\n' },
      { status: 200, text: 'a;b\n', body: undefined },
    ],
    [json('null'), { status: 200, text: 'null', body: null }],
  ])('hands over what came: %j', async (reply, expected) => {
    const client = await openClient(reply);
    expect(await client.request('DELETE', '/things/1', { credentials: 'none' })).toEqual(expected);
  });

  test('needs the credentials that it is to send', async () => {
    const bare = createClient({ baseUrl: 'https://api.example.com' });
    const error = await failureOf(() => bare.request('GET', '/things', { credentials: 'profile' }));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toHaveProperty(
      'message',
      'client.request needs profile: { accessToken } among the options of createClient',
    );
  });

  test('ends with the signal', async () => {
    const client = await openClient('hang');
    const reason = new Error('stop');
    const signal = AbortSignal.abort(reason);
    expect(await failureOf(() => client.request('GET', '/things', { credentials: 'none', signal }))).toBe(
      reason,
    );
  });
});

describe('after a failure that may pass', () => {
  const passing: readonly Reply[] = ['reset', 'cut', 'hang', { status: 429 }, { status: 503 }];

  test.each(passing)('a GET is sent again: %j', async (reply) => {
    const { request, lines } = await openClient(reply, json('{"ok":true}'));
    expect(await request('GET', '/things', { credentials: 'banking' })).toMatchObject({
      body: { ok: true },
    });
    expect(lines()).toHaveLength(2);
  });

  test.each(passing)('nothing else is, unless it says that it may be: %j', async (reply) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
      const once = await openClient(reply, json('{}'));
      const failed = () => once.request(method, '/things', { credentials: 'banking' });
      expect(await failureOf(failed)).toBeInstanceOf(ServiceError);
      expect(once.lines()).toHaveLength(1);
    }
    const twice = await openClient(reply, json('{}'));
    await twice.request('PUT', '/things', { credentials: 'banking', repeatable: true });
    expect(twice.lines()).toHaveLength(2);
  });

  test('an error of what was sent once says that it may have been carried out', async () => {
    const client = await openClient('reset');
    const error = await failureOf(() => client.request('POST', '/things', { credentials: 'banking' }));
    expect(error).toHaveProperty('message', expect.stringContaining('check before you send it again'));
  });

  test('a GET that repeatable: false forbids is not sent again', async () => {
    const { request, lines } = await openClient({ status: 503 });
    const call = () => request('GET', '/things', { credentials: 'banking', repeatable: false });
    expect(await failureOf(call)).toHaveProperty('status', 503);
    expect(lines()).toHaveLength(1);
  });
});

describe('what fails is a ServiceError', () => {
  test('with the words of the service, and without the credentials and the secrets of the call', async () => {
    const message = `${PASSWORD} and ${WEBHOOK_PASSWORD} are wrong`;
    const client = await openClient(json(JSON.stringify({ message, details: BASIC }), 422));
    const call = () =>
      client.request('POST', `/users/${encodeURIComponent(PASSWORD)}`, {
        credentials: 'administrator',
        query: { token: WEBHOOK_PASSWORD },
        body: { password: WEBHOOK_PASSWORD },
        secrets: [WEBHOOK_PASSWORD],
      });
    expect(await failureOf(call)).toMatchObject({
      code: 'service_refused',
      status: 422,
      message: '[hidden] and [hidden] are wrong',
      details: '[hidden]',
      request: 'POST /users/[hidden]?token=[hidden]',
    });
  });

  test('and a redirect is not followed', async () => {
    const other = await openLiteralService(inTurn(json('{}')));
    const client = await openClient({ status: 302, headers: { location: other.url } });
    const error = await failureOf(() => client.request('GET', '/things', { credentials: 'banking' }));
    expect(error).toMatchObject({ code: 'service_refused', status: 302 });
    expect(other.requests).toEqual([]);
  });

  test('of which a cut answer still gives a signing key', async () => {
    const body = `{"secret_signing_key":"${SIGNING_KEY}",`;
    const client = await openClient({ headers: { 'content-length': '500' }, body, end: 'cut' });
    const error = await failureOf(() =>
      client.request('POST', '/payments/na/webhooks', { credentials: 'administrator', body: {} }),
    );
    expect(error instanceof ServiceError && error.signingKey()).toBe(SIGNING_KEY);
  });
});

describe('is refused before anything is sent', () => {
  const circular: { self?: unknown } = {};
  circular.self = circular;
  const credentials = 'none';

  test.each<[string, unknown, unknown, unknown, string]>([
    [
      'a method in lower case',
      'get',
      '/things',
      { credentials },
      'the method of client.request must be GET, POST',
    ],
    ['another method', 'TRACE', '/things', { credentials }, 'the method of client.request must be GET, POST'],
    ['no path', 'GET', undefined, { credentials }, 'the path of client.request must begin with "/"'],
    ['a path that extends the host', 'GET', '.evil.example/', { credentials }, 'must begin with "/"'],
    ['another user and host', 'GET', '@evil.example/', { credentials }, 'must begin with "/"'],
    ['an address', 'GET', 'https://evil.example/', { credentials }, 'must begin with "/"'],
    [
      'a path out of the base',
      'GET',
      '/a/../../b',
      { credentials },
      'must begin with "/" and be percent-encoded',
    ],
    [
      'one that is encoded',
      'GET',
      '/a/%2e%2E/b',
      { credentials },
      'must begin with "/" and be percent-encoded',
    ],
    [
      'one with a line break',
      'GET',
      '/a/.\n./b',
      { credentials },
      'must begin with "/" and be percent-encoded',
    ],
    ['a backslash', 'GET', '/a\\..\\b', { credentials }, 'must begin with "/" and be percent-encoded'],
    ['a space', 'GET', '/a b', { credentials }, 'must begin with "/" and be percent-encoded'],
    ['a fragment', 'GET', '/a#b', { credentials }, 'must begin with "/" and be percent-encoded'],
    ['no options', 'GET', '/things', undefined, 'client.request takes an object of options'],
    ['no credentials', 'GET', '/things', {}, 'credentials of client.request must be "banking"'],
    [
      'an unknown option',
      'GET',
      '/things',
      { credentials, headers: {} },
      '"headers" is not an option of client.request',
    ],
    ['a body of a GET', 'GET', '/things', { credentials, body: {} }, 'a GET of client.request takes no body'],
    ['a circular body', 'POST', '/things', { credentials, body: circular }, 'cannot be sent as JSON'],
    [
      'a body that is a function',
      'POST',
      '/things',
      { credentials, body: () => {} },
      'cannot be sent as JSON',
    ],
    [
      'a query that is a text',
      'GET',
      '/things',
      { credentials, query: 'a=b' },
      'query of client.request must be',
    ],
    [
      'repeatable: 1',
      'PUT',
      '/things',
      { credentials, repeatable: 1 },
      'repeatable of client.request must be',
    ],
    [
      'secrets that are no list',
      'PUT',
      '/things',
      { credentials, secrets: JWT },
      'secrets of client.request must be',
    ],
  ])('%s', async (_name, method, path, options, message) => {
    const { request, requests } = await openClient(json('{}'));
    const error = await failureOf(() =>
      request(method as RequestMethod, path as string, options as RequestOptions),
    );
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toHaveProperty('message', expect.stringContaining(message));
    expect(requests).toEqual([]);
  });
});
