import { ConfigurationError } from 'posthorn';
import { ServiceError } from 'posthorn/client';
import { describe, expect, test } from 'vitest';
import { page, webhook } from './literal-bodies.ts';
import { json } from './literal-service.ts';
import { openClient } from './open-client.ts';
import { clientOf, failureOf, SIGNING_KEY, WEBHOOK_TOKEN } from './secrets.ts';
import { WebhookService } from './webhook-service.ts';

const LIST = 'GET ?limit=100&offset=0';
const NEW_KEY = `${SIGNING_KEY}_NEW1`;
const filter = '[{"entity":"transfer","types":["succeeded"]},{"entity":"refund","types":["made"]}]';
const bearer = `{"type":"BEARER","bearer":{"token":"${WEBHOOK_TOKEN}"}}`;

async function open(members: Record<string, string> = {}) {
  const service = new WebhookService();
  const client = clientOf(await service.open());
  service.add('OLD', 'the-old-key', members);
  return { service, webhooks: client.webhooks };
}

describe('a rotation', () => {
  test('creates a second one, disables it, hands over the key, enables it, and disables the first', async () => {
    const { service, webhooks } = await open({ enabled_events: filter, authentication: bearer });
    const result = await webhooks.rotate('OLD', {
      onSigningKey: async (key, { id }) => {
        expect([key, id]).toEqual([NEW_KEY, 'NEW1']);
        expect(service.enabled).toEqual(['OLD']);
        expect(service.sent).toHaveLength(4);
      },
    });
    expect(service.sent).toEqual([
      'GET /OLD',
      LIST,
      `POST {"url":"https://example.com/hooks","enabled_events":${filter},"authentication":${bearer}}`,
      'PUT /NEW1 {"enabled":false}',
      'PUT /NEW1 {"enabled":true}',
      'PUT /OLD {"enabled":false}',
    ]);
    expect(result).toMatchObject({
      webhook: { id: 'NEW1', enabled: true },
      previous: { id: 'OLD', enabled: false },
      signingKey: NEW_KEY,
    });
    expect(service.enabled).toEqual(['NEW1']);
  });

  test('waits for onSigningKey', async () => {
    const { service, webhooks } = await open();
    const { promise, resolve } = deferred();
    const called = deferred();
    const rotation = webhooks.rotate('OLD', {
      onSigningKey: () => {
        called.resolve();
        return promise;
      },
    });
    await called.promise;
    expect(service.sent).toHaveLength(4);
    expect(service.enabled).toEqual(['OLD']);
    resolve();
    await rotation;
    expect(service.enabled).toEqual(['NEW1']);
  });

  test('lets both send for overlapMs, which a signal ends', async () => {
    const { service, webhooks } = await open();
    const controller = new AbortController();
    const reason = new Error('stop');
    const enabled = deferred();
    service.onRequest(() => {
      // Not before its key was handed over: it is enabled too between its creation and the request that
      // disables it.
      if (service.sent.at(-1) === 'PUT /NEW1 {"enabled":true}') enabled.resolve();
    });
    const failure = failureOf(() =>
      webhooks.rotate('OLD', { onSigningKey() {}, overlapMs: 60_000 }, { signal: controller.signal }),
    );
    await enabled.promise;
    // By the answer to a later request, the rotation has its own.
    await webhooks.retrieve('NEW1');
    controller.abort(reason);
    expect(await failure).toBe(reason);
    expect(service.enabled).toEqual(['OLD', 'NEW1']);
    await webhooks.rotate('OLD', {
      onSigningKey() {},
      overlapMs: 10,
      resume: { id: 'NEW1', signingKey: NEW_KEY },
    });
    expect(service.enabled).toEqual(['NEW1']);
  });

  test('of which onSigningKey rejects enables nothing, and its error goes up', async () => {
    const { service, webhooks } = await open();
    const broken = new Error('the vault is sealed');
    for (const onSigningKey of [
      () => Promise.reject(broken),
      () => {
        throw broken;
      },
    ]) {
      expect(await failureOf(() => webhooks.rotate('OLD', { onSigningKey }))).toBe(broken);
      expect(service.enabled).toEqual(['OLD']);
    }
    await webhooks.rotate('OLD', { onSigningKey() {} });
    expect(service.enabled).toEqual(['NEW3']);
  });

  test('keeps the first one while the service does not say that the second is enabled', async () => {
    const disabled = json(webhook('NEW1', { enabled: 'false' }));
    const { webhooks, lines } = await openClient(
      json(webhook('OLD')),
      json(page([webhook('OLD')])),
      json(webhook('NEW1', { secret_signing_key: `"${SIGNING_KEY}"` })),
      disabled,
      disabled,
    );
    const error = await failureOf(() => webhooks.rotate('OLD', { onSigningKey() {} }));
    expect(error).toHaveProperty('code', 'answer_invalid');
    expect(lines()).toHaveLength(5);
  });

  test('can be followed by another', async () => {
    const { service, webhooks } = await open();
    await webhooks.rotate('OLD', { onSigningKey() {} });
    await webhooks.rotate('NEW1', { onSigningKey() {} });
    expect(service.enabled).toEqual(['NEW2']);
    expect(await webhooks.ensure({ url: 'https://example.com/hooks' })).toMatchObject({
      webhook: { id: 'NEW2' },
      changes: [],
    });
  });

  test('leaves alone what is no orphan: older, elsewhere, or with other events or credentials', async () => {
    const { service, webhooks } = await open({ enabled_events: filter, authentication: bearer });
    const like = { enabled_events: filter, authentication: bearer, created_at: '"2026-04-01T00:00:00Z"' };
    service.add('OLDER', 'k', { ...like, created_at: '"2026-03-31T09:04:59Z"' });
    service.add('ELSEWHERE', 'k', { ...like, url: '"https://example.com/other"' });
    service.add('FEWER', 'k', { ...like, enabled_events: '[{"entity":"transfer","types":["succeeded"]}]' });
    service.add('OPEN', 'k', { ...like, authentication: '{"type":"NONE"}' });
    service.add('ORPHAN', 'k', like);
    await webhooks.rotate('OLD', { onSigningKey() {} });
    expect(service.enabled).toEqual(['OLDER', 'ELSEWHERE', 'FEWER', 'OPEN', 'NEW6']);
  });
});

describe('is refused', () => {
  test('an id that is unknown', async () => {
    const { webhooks } = await open();
    expect(await failureOf(() => webhooks.rotate('WH7', { onSigningKey() {} }))).toMatchObject({
      status: 404,
      message: 'Webhook not found',
    });
  });

  test('a webhook that is disabled: nothing would be enabled in the end if it broke off', async () => {
    const { service, webhooks } = await open({ enabled: 'false' });
    const error = await failureOf(() => webhooks.rotate('OLD', { onSigningKey() {} }));
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({
      code: 'webhook_disabled',
      message: expect.stringContaining('webhook "OLD" is disabled, so it cannot be rotated'),
    });
    expect(service.sent).toEqual(['GET /OLD']);
  });

  test('a resume that names the webhook itself, one with another url, or an unknown one', async () => {
    const { service, webhooks } = await open();
    service.add('ELSEWHERE', 'k', { url: '"https://example.com/other"', enabled: 'false' });
    const resumed = (id: string) =>
      failureOf(() => webhooks.rotate('OLD', { onSigningKey() {}, resume: { id, signingKey: SIGNING_KEY } }));
    expect(await resumed('OLD')).toBeInstanceOf(ConfigurationError);
    expect(await resumed('ELSEWHERE')).toBeInstanceOf(ConfigurationError);
    expect(await resumed('WH7')).toHaveProperty('status', 404);
    expect(service.enabled).toEqual(['OLD']);
    expect(service.sent.filter((line) => !line.startsWith('GET'))).toEqual([]);
  });

  test('wrong options, without showing them', async () => {
    const { service, webhooks } = await open();
    const refused = async (call: () => unknown) =>
      expect(await failureOf(call)).toBeInstanceOf(ConfigurationError);
    // @ts-expect-error missing
    await refused(() => webhooks.rotate('OLD', {}));
    // @ts-expect-error no object
    await refused(() => webhooks.rotate('OLD', { onSigningKey() {}, resume: SIGNING_KEY }));
    // @ts-expect-error without an id
    await refused(() => webhooks.rotate('OLD', { onSigningKey() {}, resume: { signingKey: SIGNING_KEY } }));
    await refused(() => webhooks.rotate('OLD', { onSigningKey() {}, overlapMs: -1 }));
    // @ts-expect-error no number
    await refused(() => webhooks.rotate('OLD', { onSigningKey() {}, overlapMs: null }));
    // @ts-expect-error misspelt
    await refused(() => webhooks.rotate('OLD', { onSigningKey() {}, overlap: 5 }));
    expect(service.sent).toEqual([]);
  });
});

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
