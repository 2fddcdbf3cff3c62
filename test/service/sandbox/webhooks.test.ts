import { describe, expect, test } from 'vitest';
import {
  ADMINISTRATOR,
  CONTROL,
  createWebhook,
  openSandbox,
  retrieveWebhook,
  START_AT,
} from './opened-sandbox.ts';

const PATH = '/payments/na/webhooks';
const ISO = '2026-03-01T12:00:00.500Z';

describe('POST /payments/na/webhooks', () => {
  test('creates an enabled webhook for all events, without credentials, and shows its key', async () => {
    const { call, url } = await openSandbox();
    const reply = await call('POST', PATH, ADMINISTRATOR, '{"url":"https://example.com/hooks"}');
    expect(reply.status).toBe(201);
    const { id } = reply.body as { id: string };
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^\w+$/),
      created_at: ISO,
      updated_at: ISO,
      url: 'https://example.com/hooks',
      enabled: true,
      authentication: { type: 'NONE' },
      enabled_events: [],
      secret_signing_key: expect.stringMatching(/^[0-9a-f]{64}$/),
      _links: { self: { href: `${url}/payments/na/webhooks/${id}` } },
    });
  });

  test('keeps credentials and filter as they were sent', async () => {
    const { call } = await openSandbox();
    const reply = await call(
      'POST',
      PATH,
      ADMINISTRATOR,
      '{"url":"https://example.com/","enabled_events":[{"entity":"transfer","types":["created","failed"]},' +
        '{"entity":"merchant","types":[]}],"authentication":{"type":"BASIC","basic":{"username":"u","password":"p"}}}',
    );
    expect(reply).toMatchObject({
      status: 201,
      body: {
        authentication: { type: 'BASIC', basic: { username: 'u', password: 'p' } },
        enabled_events: [
          { entity: 'transfer', types: ['created', 'failed'] },
          { entity: 'merchant', types: [] },
        ],
      },
    });
  });

  test('gives each webhook an id and a key of its own', async () => {
    const opened = await openSandbox();
    const one = await createWebhook(opened, '{"url":"https://example.com/"}');
    const other = await createWebhook(opened, '{"url":"https://example.com/"}');
    expect(one.id).not.toBe(other.id);
    expect(one.secret_signing_key).not.toBe(other.secret_signing_key);
  });
});

describe('GET /payments/na/webhooks/{id}', () => {
  test('shows the webhook, its credentials in clear, its key never again', async () => {
    const opened = await openSandbox();
    const { secret_signing_key, ...created } = await createWebhook(
      opened,
      '{"url":"https://example.com/","authentication":{"type":"BEARER","bearer":{"token":"t0k3n"}}}',
    );
    expect(await retrieveWebhook(opened, created.id)).toEqual({
      ...created,
      authentication: { type: 'BEARER', bearer: { token: 't0k3n' } },
      secret_signing_key: null,
    });
  });

  test.each(['GET', 'PUT'])('%s of an unknown id is answered 404', async (method) => {
    const { call } = await openSandbox();
    const body = method === 'PUT' ? '{"url":"ftp://"}' : undefined;
    const reply = await call(method, `${PATH}/WHunknown`, ADMINISTRATOR, body);
    expect(reply).toMatchObject({ status: 404, body: { status: 404, message: 'Webhook not found' } });
    expect(reply.body).not.toHaveProperty('details');
  });
});

describe('PUT /payments/na/webhooks/{id}', () => {
  test('changes only what was sent, and updated_at; a filter is replaced as a whole', async () => {
    const opened = await openSandbox();
    const { id } = await createWebhook(
      opened,
      '{"url":"https://example.com/","enabled_events":[{"entity":"transfer","types":["created"]}]}',
    );
    const before = await retrieveWebhook(opened, id);
    await opened.sandbox.clock.advance(5_000);
    const path = `${PATH}/${id}`;
    const replaced = await opened.call(
      'PUT',
      path,
      ADMINISTRATOR,
      '{"enabled_events":[{"entity":"dispute","types":["won"]}]}',
    );
    expect(replaced).toMatchObject({ status: 200 });
    expect(replaced.body).toEqual({
      ...before,
      enabled_events: [{ entity: 'dispute', types: ['won'] }],
      updated_at: '2026-03-01T12:00:05.500Z',
    });
    const moved = await opened.call('PUT', path, ADMINISTRATOR, '{"url":"https://example.org/b"}');
    expect(moved.body).toMatchObject({
      url: 'https://example.org/b',
      created_at: ISO,
      enabled_events: [{ entity: 'dispute', types: ['won'] }],
    });
    const emptied = await opened.call('PUT', path, ADMINISTRATOR, '{"enabled_events":[]}');
    expect(emptied.body).toMatchObject({ enabled_events: [], url: 'https://example.org/b' });
  });

  test('refreshes updated_at even while the clock stands still', async () => {
    const opened = await openSandbox();
    const { id } = await createWebhook(opened, '{"url":"https://example.com/"}');
    const reply = await opened.call('PUT', `${PATH}/${id}`, ADMINISTRATOR, '{}');
    expect(reply.body).toMatchObject({
      created_at: ISO,
      updated_at: new Date(START_AT + 1).toISOString(),
    });
  });

  test('a disabled webhook keeps its configuration', async () => {
    const opened = await openSandbox();
    const { id } = await createWebhook(opened, '{"url":"https://example.com/"}');
    const before = await retrieveWebhook(opened, id);
    const path = `${PATH}/${id}`;
    const disabled = await opened.call('PUT', path, ADMINISTRATOR, '{"enabled":false}');
    expect(disabled.body).toEqual({ ...before, enabled: false, updated_at: expect.any(String) });
    const enabled = await opened.call('PUT', path, ADMINISTRATOR, '{"enabled":true}');
    expect(enabled.body).toEqual({ ...before, enabled: true, updated_at: expect.any(String) });
  });

  test('the key and other members that cannot be updated are passed over', async () => {
    const opened = await openSandbox();
    const { id } = await createWebhook(opened, '{"url":"https://example.com/"}');
    const before = await retrieveWebhook(opened, id);
    const reply = await opened.call(
      'PUT',
      `${PATH}/${id}`,
      ADMINISTRATOR,
      '{"secret_signing_key":"mine","id":"WHmine","created_at":"2020-01-01T00:00:00Z"}',
    );
    expect(reply).toMatchObject({ status: 200 });
    expect(reply.body).toEqual({ ...before, updated_at: expect.any(String) });
  });
});

describe('POST /sandbox/webhooks/{id}/enable', () => {
  test('enables a webhook without credentials, and shows nothing of it', async () => {
    const opened = await openSandbox();
    const { id } = await createWebhook(opened, '{"url":"https://example.com/hooks"}');
    await opened.call('PUT', `${PATH}/${id}`, ADMINISTRATOR, '{"enabled":false}');
    const reply = await opened.call('POST', `/sandbox/webhooks/${id}/enable`, CONTROL);
    expect(reply).toMatchObject({ status: 200 });
    expect(reply.body).toEqual({ id, enabled: true });
    expect(await retrieveWebhook(opened, id)).toMatchObject({
      enabled: true,
      updated_at: '2026-03-01T12:00:00.502Z',
    });
  });

  test('knows no other webhook, and serves no page of another origin', async () => {
    const { call } = await openSandbox();
    expect(await call('POST', '/sandbox/webhooks/WH1/enable', CONTROL)).toMatchObject({
      status: 404,
      body: { message: 'Webhook not found' },
    });
    const foreign = { ...CONTROL, origin: 'http://evil.example' };
    expect((await call('POST', '/sandbox/webhooks/WH1/enable', foreign)).status).toBe(403);
  });
});
