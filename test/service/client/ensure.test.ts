import { ConfigurationError } from 'posthorn';
import { ServiceError, type WantedWebhook } from 'posthorn/client';
import { describe, expect, test } from 'vitest';
import { page, webhook } from './literal-bodies.ts';
import { inTurn, json, type Reply } from './literal-service.ts';
import { openClient, openClientOf } from './open-client.ts';
import { failureOf, SIGNING_KEY, WEBHOOK_PASSWORD, WEBHOOK_TOKEN } from './secrets.ts';

const url = 'https://example.com/hooks';
const LIST = 'GET /payments/na/webhooks?limit=100&offset=0';
const events = '[{"entity":"transfer","types":["succeeded","failed"]},{"entity":"dispute","types":[]}]';
const basic = { type: 'BASIC', basic: { username: 'hook', password: WEBHOOK_PASSWORD } } as const;
const there = webhook('WH1', { enabled_events: events, authentication: JSON.stringify(basic) });
const other = webhook('WH2', { url: '"https://example.com/other"' });
const created = webhook('WH9', { secret_signing_key: `"${SIGNING_KEY}"` });

async function open(...replies: readonly Reply[]) {
  const { webhooks, requests } = await openClient(...replies);
  return { ...webhooks, sent: () => requests.map(({ line, body }) => `${line} ${body}`.trim()) };
}

describe('a webhook that is as it was wanted stays as it is', () => {
  test.each<[string, WantedWebhook]>([
    ['the url alone', { url }],
    [
      'everything',
      {
        url,
        enabled: true,
        authentication: basic,
        enabled_events: [
          { entity: 'transfer', types: ['succeeded', 'failed'] },
          { entity: 'dispute', types: [] },
        ],
      },
    ],
    [
      'the events in another order, and twice',
      {
        url,
        enabled_events: [
          { entity: 'dispute', types: [] },
          { entity: 'transfer', types: ['failed', 'succeeded', 'failed'] },
          { entity: 'dispute', types: [] },
        ],
      },
    ],
    [
      'an entity in two parts, and one that is whole besides its types',
      {
        url,
        enabled_events: [
          { entity: 'transfer', types: ['failed'] },
          { entity: 'dispute', types: ['won'] },
          { entity: 'transfer', types: ['succeeded'] },
          { entity: 'dispute', types: [] },
          { entity: 'dispute', types: ['lost'] },
        ],
      },
    ],
  ])('%s', async (_name, wanted) => {
    const { ensure, sent } = await open(json(page([other, there])));
    expect(await ensure(wanted)).toEqual({ webhook: JSON.parse(there), changes: [] });
    expect(sent()).toEqual([LIST]);
  });

  test('a url that the service has written out', async () => {
    const { ensure, sent } = await open(json(page([webhook('WH1', { url: '"https://example.com/"' })])));
    expect(await ensure({ url: 'https://EXAMPLE.com' })).toMatchObject({ changes: [] });
    expect(sent()).toEqual([LIST]);
  });
});

describe('one change alone is one update with one member', () => {
  const bearer = { type: 'BEARER', bearer: { token: WEBHOOK_TOKEN } } as const;
  test.each<[string, Omit<WantedWebhook, 'url'>, string]>([
    ['enabled', { enabled: false }, '{"enabled":false}'],
    ['enabled_events', { enabled_events: [] }, '{"enabled_events":[]}'],
    [
      'enabled_events',
      { enabled_events: [{ entity: 'transfer', types: [] }] },
      '{"enabled_events":[{"entity":"transfer","types":[]}]}',
    ],
    [
      'enabled_events',
      { enabled_events: [{ entity: 'transfer', types: ['succeeded', 'failed'] }] },
      '{"enabled_events":[{"entity":"transfer","types":["succeeded","failed"]}]}',
    ],
    ['authentication', { authentication: { type: 'NONE' } }, '{"authentication":{"type":"NONE"}}'],
    [
      'authentication',
      { authentication: bearer },
      `{"authentication":{"type":"BEARER","bearer":{"token":"${WEBHOOK_TOKEN}"}}}`,
    ],
    [
      'authentication',
      { authentication: { type: 'BASIC', basic: { username: 'hook', password: 'new' } } },
      '{"authentication":{"type":"BASIC","basic":{"username":"hook","password":"new"}}}',
    ],
  ])('%s (%#)', async (change, wanted, body) => {
    const { ensure, sent } = await open(json(page([there, other])), json(webhook('WH1')));
    expect(await ensure({ url, ...wanted })).toEqual({
      webhook: JSON.parse(webhook('WH1')),
      changes: [change],
    });
    expect(sent()).toEqual([LIST, `PUT /payments/na/webhooks/WH1 ${body}`]);
  });

  test('url, of a webhook found by id', async () => {
    const { ensure, sent } = await open(json(there), json(there));
    const result = await ensure({ id: 'WH1', url: 'https://example.com/moved' });
    expect(result).toMatchObject({ changes: ['url'] });
    expect(result).not.toHaveProperty('signingKey');
    expect(sent()).toEqual([
      'GET /payments/na/webhooks/WH1',
      'PUT /payments/na/webhooks/WH1 {"url":"https://example.com/moved"}',
    ]);
  });

  test('all at once are one update', async () => {
    const { ensure, sent } = await open(json(there), json(webhook('WH1')));
    const wanted = { url: 'https://example.com/moved', enabled: false, enabled_events: [] };
    expect(await ensure({ id: 'WH1', ...wanted, authentication: { type: 'NONE' } })).toMatchObject({
      changes: ['url', 'enabled_events', 'authentication', 'enabled'],
    });
    expect(sent()[1]).toBe(
      'PUT /payments/na/webhooks/WH1 {"url":"https://example.com/moved","enabled_events":[],' +
        '"authentication":{"type":"NONE"},"enabled":false}',
    );
  });

  test('enabled: true wakes a webhook that the service has given up; left out, it stays disabled', async () => {
    const disabled = webhook('WH1', { enabled: 'false' });
    const { ensure, sent } = await open(json(page([disabled])), json(page([disabled])), json(webhook('WH1')));
    expect(await ensure({ url })).toMatchObject({ changes: [], webhook: { enabled: false } });
    expect(await ensure({ url, enabled: true })).toMatchObject({ changes: ['enabled'] });
    expect(sent()).toEqual([LIST, LIST, 'PUT /payments/na/webhooks/WH1 {"enabled":true}']);
  });
});

describe('force sends the flag that the webhook already has', () => {
  const PUT = 'PUT /payments/na/webhooks/WH1';

  test('to wake one that was given up while it still says enabled', async () => {
    const { ensure, sent } = await open(json(page([there])), json(there));
    expect(await ensure({ url, enabled: true }, { force: true })).toEqual({
      webhook: JSON.parse(there),
      changes: ['enabled'],
    });
    expect(sent()).toEqual([LIST, `${PUT} {"enabled":true}`]);
  });

  test('in one update with what else has to change', async () => {
    const { ensure, sent } = await open(json(page([there])), json(there));
    const wanted = { url, enabled: true, enabled_events: [] };
    expect(await ensure(wanted, { force: true })).toMatchObject({ changes: ['enabled_events', 'enabled'] });
    expect(sent()).toEqual([LIST, `${PUT} {"enabled_events":[],"enabled":true}`]);
  });

  test('disabled as well as enabled, and not by default', async () => {
    const asleep = json(webhook('WH1', { enabled: 'false' }));
    const { ensure, sent } = await open(asleep, asleep, asleep);
    expect(await ensure({ id: 'WH1', url, enabled: false }, { force: false })).toMatchObject({ changes: [] });
    await ensure({ id: 'WH1', url, enabled: false }, { force: true });
    const GET = 'GET /payments/na/webhooks/WH1';
    expect(sent()).toEqual([GET, GET, `${PUT} {"enabled":false}`]);
  });

  test('and nothing more where there is none: it is created', async () => {
    const { ensure, sent } = await open(json(page([])), json(created, 201));
    expect(await ensure({ url, enabled: true }, { force: true })).toMatchObject({ changes: ['created'] });
    expect(sent()).toEqual([LIST, `POST /payments/na/webhooks {"url":"${url}"}`]);
  });
});

describe('a webhook that is not there is created', () => {
  test('with what is wanted, and gives its signing key', async () => {
    const { ensure, sent } = await open(json(page([other])), json(created, 201));
    const enabled_events = [{ entity: 'dispute', types: ['won'] }] as const;
    expect(await ensure({ url, enabled_events, authentication: basic, enabled: true })).toEqual({
      webhook: JSON.parse(created),
      changes: ['created'],
      signingKey: SIGNING_KEY,
    });
    expect(sent()).toEqual([
      LIST,
      `POST /payments/na/webhooks {"url":"${url}","enabled_events":[{"entity":"dispute","types":["won"]}],` +
        `"authentication":{"type":"BASIC","basic":{"username":"hook","password":"${WEBHOOK_PASSWORD}"}}}`,
    ]);
  });

  test('disabled: created, then disabled', async () => {
    const disabled = webhook('WH9', { enabled: 'false' });
    const { ensure, sent } = await open(json(page([])), json(created), json(disabled));
    expect(await ensure({ url, enabled: false })).toEqual({
      webhook: JSON.parse(disabled),
      changes: ['created'],
      signingKey: SIGNING_KEY,
    });
    expect(sent()).toEqual([
      LIST,
      `POST /payments/na/webhooks {"url":"${url}"}`,
      'PUT /payments/na/webhooks/WH9 {"enabled":false}',
    ]);
  });

  test('disabled, while the caller loses interest: the key is handed over all the same', async () => {
    const controller = new AbortController();
    const respond = inTurn(json(page([])), json(created), json(webhook('WH9', { enabled: 'false' })));
    const { webhooks } = await openClientOf((request) => {
      if (request.line.startsWith('PUT')) controller.abort();
      return respond(request);
    });
    const { signal } = controller;
    expect(await webhooks.ensure({ url, enabled: false }, { signal })).toMatchObject({
      webhook: { enabled: false },
      signingKey: SIGNING_KEY,
    });
  });

  test.each<[string, Reply]>([
    ['refused', json('{"status":400,"message":"Not now"}', 400)],
    ['answered with a webhook that is enabled', json(webhook('WH9'))],
  ])('disabled, which is %s: the error says which one was left', async (_name, reply) => {
    const { ensure } = await open(json(page([])), json(created), reply);
    const error = await failureOf(() => ensure({ url, enabled: false }));
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({
      code: 'webhook_left_enabled',
      message: expect.stringContaining('webhook "WH9" was created and could not be disabled'),
      cause: expect.any(ServiceError),
    });
  });

  test('but not for an id that is unknown', async () => {
    const { ensure, sent } = await open(json('{"status":404,"message":"Webhook not found"}', 404));
    expect(await failureOf(() => ensure({ id: 'WH7', url }))).toMatchObject({
      status: 404,
      message: 'Webhook not found',
    });
    expect(sent()).toHaveLength(1);
  });
});

describe('several with the same url', () => {
  const second = webhook('WH3', { authentication: JSON.stringify(basic) });
  const asleep = (id: string) => webhook(id, { enabled: 'false' });

  test.each<[string, readonly string[], string]>([
    ['two enabled', [there, other, second], '"WH1", "WH3"'],
    ['two disabled', [asleep('WH1'), asleep('WH3')], '"WH1" (disabled), "WH3" (disabled)'],
    ['two enabled, one disabled', [there, asleep('WH5'), second], '"WH1", "WH5" (disabled), "WH3"'],
  ])('%s: an error that names them', async (_name, all, ids) => {
    const { ensure, sent } = await open(json(page(all)));
    expect(await failureOf(() => ensure({ url }))).toMatchObject({
      code: 'webhook_ambiguous',
      message: expect.stringContaining(`several webhooks have this url: ${ids}.`),
    });
    expect(sent()).toEqual([LIST]);
  });

  test('the only enabled one is meant: rotations leave disabled ones behind', async () => {
    const { ensure } = await open(json(page([asleep('WH3'), there, asleep('WH4')])));
    expect(await ensure({ url })).toMatchObject({ webhook: { id: 'WH1' }, changes: [] });
  });

  test('an id says which one is meant', async () => {
    const { ensure, sent } = await open(json(second));
    expect(await ensure({ id: 'WH3', url })).toMatchObject({ webhook: { id: 'WH3' }, changes: [] });
    expect(sent()).toEqual(['GET /payments/na/webhooks/WH3']);
  });
});

test('a misspelt member is refused: it would change nothing in silence', async () => {
  const { ensure, sent } = await open();
  // @ts-expect-error misspelt
  const error = await failureOf(() => ensure({ url, enabledEvents: [] }));
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(sent()).toEqual([]);
});
