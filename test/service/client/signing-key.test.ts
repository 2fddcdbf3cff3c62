import { inspect } from 'node:util';
import { type Client, ServiceError, type WebhookRequest } from 'posthorn/client';
import { describe, expect, test } from 'vitest';
import { page, webhook } from './literal-bodies.ts';
import { json, type Reply } from './literal-service.ts';
import { openClient } from './open-client.ts';
import { failureOf, SIGNING_KEY, WEBHOOK_PASSWORD } from './secrets.ts';

const url = 'https://example.com/hooks';
const secret_signing_key = `"${SIGNING_KEY}"`;
const basic = { type: 'BASIC', basic: { username: 'hook', password: WEBHOOK_PASSWORD } } as const;
const wanted: WebhookRequest = {
  url,
  enabled_events: [{ entity: 'dispute', types: ['won'] }],
  authentication: basic,
};

/** The answer to a creation, as it should be but for some members; those that are undefined are left out. */
function created(members: Readonly<Record<string, string | undefined>>): string {
  const all = { ...JSON.parse(webhook('WH1', { secret_signing_key })), ...wanted };
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) delete all[name];
    else all[name] = JSON.parse(value);
  }
  return JSON.stringify(all);
}

const odd: readonly [string, Readonly<Record<string, string | undefined>>][] = [
  [
    'times with +0000',
    { created_at: '"2026-03-31T09:05:00+0000"', updated_at: '"2026-03-31T09:05:00+0000"' },
  ],
  ['times of another form', { created_at: '"yesterday"', updated_at: '1774947900' }],
  ['times that are null', { created_at: 'null', updated_at: 'null' }],
  ['no times', { created_at: undefined, updated_at: undefined }],
  ['no _links', { _links: undefined }],
  ['_links that are null', { _links: 'null' }],
  ['_links of another form', { _links: '[{"rel":"self"}]' }],
  ['no url', { url: undefined }],
  ['a url of another form', { url: '5' }],
  ['no flag', { enabled: undefined }],
  ['a flag that is null', { enabled: 'null' }],
  ['a filter that is null', { enabled_events: 'null' }],
  ['a filter of another form', { enabled_events: '["dispute.won"]' }],
  ['no authentication', { authentication: undefined }],
  ['authentication without its password', { authentication: '{"type":"BASIC","basic":{"username":"hook"}}' }],
  ['authentication of another type', { authentication: '{"type":"MUTUAL_TLS"}' }],
];

describe.each(odd)('a creation that is answered with %s hands the signing key over', (_name, members) => {
  const expected = { id: 'WH1', ...wanted, enabled: true };

  test('webhooks.create', async () => {
    const { webhooks } = await openClient(json(created(members), 201));
    expect(await webhooks.create(wanted)).toMatchObject({ ...expected, secret_signing_key: SIGNING_KEY });
  });

  test('webhooks.ensure', async () => {
    const { webhooks } = await openClient(json(page([])), json(created(members), 201));
    expect(await webhooks.ensure(wanted)).toMatchObject({
      webhook: expected,
      changes: ['created'],
      signingKey: SIGNING_KEY,
    });
  });

  test('webhooks.ensure, disabled', async () => {
    const disabled = webhook('WH1', { enabled: 'false', updated_at: 'null', _links: 'null' });
    const { webhooks } = await openClient(json(page([])), json(created(members), 201), json(disabled));
    expect(await webhooks.ensure({ ...wanted, enabled: false })).toMatchObject({
      webhook: { id: 'WH1', enabled: false },
      signingKey: SIGNING_KEY,
    });
  });
});

test('what was not asked for is the default: every event and no credentials', async () => {
  const members = { authentication: 'null', enabled_events: 'null' };
  const { webhooks } = await openClient(json(created(members), 201));
  expect(await webhooks.create({ url })).toMatchObject({
    authentication: { type: 'NONE' },
    enabled_events: [],
  });
});

test('a flag that says disabled is handed over as it is', async () => {
  const { webhooks } = await openClient(json(created({ enabled: 'false' }), 201));
  expect(await webhooks.create(wanted)).toMatchObject({ enabled: false, secret_signing_key: SIGNING_KEY });
});

/** The members that pino's serializer of errors copies: those that `for … in` finds, and all causes. */
function serialized(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { message, stack, cause } = error;
  const members: Record<string, unknown> = { message, stack, cause: serialized(cause) };
  for (const name in error) members[name] = serialized(Reflect.get(error, name));
  return members;
}

const unusable: readonly [string, string, Reply][] = [
  ['no id', 'answer_invalid', json(created({ id: undefined }), 201)],
  ['an id that is a number', 'answer_invalid', json(created({ id: '5' }), 201)],
  ['the webhook inside another object', 'answer_invalid', json(`{"webhook":${created({})}}`, 201)],
  ['a list', 'answer_invalid', json(`[${created({})}]`, 201)],
  [
    'JSON that is cut off after the key',
    'answer_invalid',
    json(`{"secret_signing_key" : "${SIGNING_KEY}","id`),
  ],
  [
    'a connection that is cut after the key',
    'service_unreachable',
    { status: 201, headers: { 'content-length': '1000' }, body: created({}), end: 'cut' },
  ],
  [
    'a connection that hangs after the key',
    'service_timeout',
    { status: 201, headers: { 'content-length': '1000' }, body: created({}), end: 'hang' },
  ],
];

describe.each(unusable)('an answer that cannot be used: %s', (_name, code, reply) => {
  const calls = [
    ['create', [reply], async (webhooks: Client['webhooks']) => webhooks.create(wanted)],
    ['ensure', [json(page([])), reply], async (webhooks: Client['webhooks']) => webhooks.ensure(wanted)],
  ] as const;

  test.each(calls)(
    'the error of webhooks.%s gives the key, and no log prints it',
    async (_, replies, call) => {
      const { webhooks } = await openClient(...replies);
      // Fails if a secret is in its message, in its stack, in what inspect shows, or in its JSON.
      const error = await failureOf(() => call(webhooks));
      const message = expect.stringMatching(/signingKey\(\) of this error gives it$/);
      expect(error).toMatchObject({ code, message });
      expect(error instanceof ServiceError && error.signingKey()).toBe(SIGNING_KEY);
      for (const shown of [
        serialized(error),
        structuredClone(error),
        { error },
        [error],
        { ...Object(error) },
      ]) {
        const options = { depth: null, showHidden: true, getters: true, showProxy: true } as const;
        expect(`${inspect(shown, options)}${JSON.stringify(shown)}`).not.toContain(SIGNING_KEY);
      }
      expect(String(error)).not.toContain(SIGNING_KEY);
      expect(Reflect.ownKeys(Object(error))).not.toContain('signingKey');
    },
  );
});

const quoted = created({});
const refusals: readonly [string, string][] = [
  ['beside its message', `{"message":"No room for ${SIGNING_KEY}","webhook":${quoted}}`],
  ['in its details', `{"message":"No room","details":"for ${SIGNING_KEY}","webhook":${quoted}}`],
  ['within its message', JSON.stringify({ message: `No room for ${quoted}` })],
  ['within its details', JSON.stringify({ message: 'No room', details: `${quoted} is too much` })],
  [
    'in a message that is cut within the key',
    JSON.stringify({ message: `${'x'.repeat(490)}${SIGNING_KEY}`, webhook: JSON.parse(quoted) }),
  ],
];

test.each(refusals)(
  'a refusal that quotes the webhook %s: the error hides its key, and gives it',
  async (_, body) => {
    const { webhooks } = await openClient(json(body, 500));
    const error = await failureOf(() => webhooks.create(wanted));
    expect(error).toMatchObject({ code: 'service_refused', status: 500 });
    expect(error instanceof ServiceError && error.signingKey()).toBe(SIGNING_KEY);
    expect(JSON.stringify(serialized(error))).not.toContain(SIGNING_KEY.slice(0, 12));
  },
);

test('a key with escapes is hidden as it stands in JSON, too', async () => {
  const key = 'whsec_"\\_escaped';
  const message = `No room for ${JSON.stringify({ secret_signing_key: key })} and ${key}`;
  const { webhooks } = await openClient(json(JSON.stringify({ message }), 500));
  const error = await failureOf(() => webhooks.create(wanted));
  expect(error instanceof ServiceError && error.signingKey()).toBe(key);
  expect(String(error)).not.toContain('whsec_');
});

test('no error of what follows a creation shows its key', async () => {
  const refused = json(`{"message":"Not now: ${SIGNING_KEY}","details":"${SIGNING_KEY}"}`, 400);
  const disabled = await openClient(json(page([])), json(created({}), 201), refused);
  const error = await failureOf(() => disabled.webhooks.ensure({ ...wanted, enabled: false }));
  expect(error).toMatchObject({ code: 'webhook_left_enabled', cause: { message: 'Not now: [hidden]' } });
  const old = json(webhook('WH1'));
  const next = json(webhook('WH2', { enabled: 'false' }));
  const enabled = json(webhook('WH2'));
  const options = { onSigningKey: () => {}, resume: { id: 'WH2', signingKey: SIGNING_KEY } };
  for (const replies of [
    [old, next, refused],
    [old, next, enabled, refused],
  ]) {
    const { webhooks } = await openClient(...replies);
    const failure = await failureOf(() => webhooks.rotate('WH1', options));
    expect(failure).toMatchObject({ message: 'Not now: [hidden]', details: '[hidden]' });
  }
});

test('a webhook that was created and could not be disabled: the error gives its key', async () => {
  const refused = json('{"status":400,"message":"Not now"}', 400);
  const { webhooks } = await openClient(json(page([])), json(created({}), 201), refused);
  const error = await failureOf(() => webhooks.ensure({ ...wanted, enabled: false }));
  expect(error).toMatchObject({ code: 'webhook_left_enabled' });
  expect(error instanceof ServiceError && error.signingKey()).toBe(SIGNING_KEY);
});

test.each<[string, Reply]>([
  ['no key', json(webhook('WH1'))],
  ['a key that is cut off', json(`{"secret_signing_key":"${SIGNING_KEY.slice(0, 9)}`)],
  ['an empty key', json(created({ secret_signing_key: '""' }))],
  ['a refusal', json('{"status":400,"message":"Invalid URL"}', 400)],
])('where there is %s the error gives none', async (_name, reply) => {
  const { webhooks } = await openClient(reply);
  const error = await failureOf(() => webhooks.create(wanted));
  expect(error instanceof ServiceError && error.signingKey()).toBeUndefined();
});

test('a key with escapes is given as JSON means it', async () => {
  const { webhooks } = await openClient(json('{"secret_signing_key":"a\\"b\\\\c\\u0021"}'));
  const error = await failureOf(() => webhooks.create(wanted));
  expect(error instanceof ServiceError && error.signingKey()).toBe('a"b\\c!');
});
