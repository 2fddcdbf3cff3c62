import type { WantedWebhook, WebhookChange } from 'posthorn/client';
import { describe, expect, test } from 'vitest';
import { openService } from './service.ts';

const URL = 'https://example.com/hooks';

const WANTED: WantedWebhook = {
  url: URL,
  enabled_events: [
    { entity: 'transfer', types: ['succeeded', 'failed'] },
    { entity: 'dispute', types: [] },
  ],
  authentication: { type: 'BASIC', basic: { username: 'ann', password: 'secret' } },
  enabled: true,
};

describe('client.webhooks.ensure', () => {
  test('creates the webhook, gives its key once, and changes nothing the second time', async () => {
    const { client, gateway } = await openService();
    const first = await client.webhooks.ensure(WANTED);
    expect(first).toMatchObject({ changes: ['created'], webhook: WANTED, signingKey: expect.any(String) });
    gateway.lines.length = 0;
    const second = await client.webhooks.ensure(WANTED);
    expect(second).toEqual({ changes: [], webhook: { ...first.webhook, secret_signing_key: null } });
    expect(gateway.lines).toEqual(['GET /payments/na/webhooks?limit=100&offset=0']);
  });

  test('creates a disabled one, which is never enabled again by what says nothing of it', async () => {
    const { client } = await openService();
    const created = await client.webhooks.ensure({ url: URL, enabled: false });
    expect(created).toMatchObject({
      changes: ['created'],
      webhook: { enabled: false },
      signingKey: expect.any(String),
    });
    expect(await client.webhooks.ensure({ url: URL })).toMatchObject({
      changes: [],
      webhook: { enabled: false },
    });
  });

  test.each<[WebhookChange, Partial<WantedWebhook>]>([
    ['url', { url: 'https://example.org/other' }],
    ['enabled_events', { enabled_events: [{ entity: 'dispute', types: ['won'] }] }],
    ['enabled_events', { enabled_events: [] }],
    ['authentication', { authentication: { type: 'BEARER', bearer: { token: 'to-ken' } } }],
    ['authentication', { authentication: { type: 'BASIC', basic: { username: 'ann', password: 'new' } } }],
    ['authentication', { authentication: { type: 'NONE' } }],
    ['enabled', { enabled: false }],
  ])('changes %s alone to %j, and nothing the second time', async (change, members) => {
    const { client } = await openService();
    const { webhook } = await client.webhooks.ensure(WANTED);
    const wanted = { ...WANTED, id: webhook.id, ...members };
    const { updated_at: _, ...rest } = { ...webhook, ...members, secret_signing_key: null };
    const ensured = await client.webhooks.ensure(wanted);
    expect(ensured).toMatchObject({ changes: [change], webhook: rest });
    expect(ensured).not.toHaveProperty('signingKey');
    expect(await client.webhooks.retrieve(webhook.id)).toEqual(ensured.webhook);
    expect(await client.webhooks.ensure(wanted)).toEqual({ changes: [], webhook: ensured.webhook });
  });

  test('changes all of it at once, and sees that another order of events is the same', async () => {
    const { client } = await openService();
    const { id } = await client.webhooks.create({ url: URL });
    const url = 'https://example.org/other';
    expect(await client.webhooks.ensure({ ...WANTED, id, url, enabled: false })).toMatchObject({
      changes: ['url', 'enabled_events', 'authentication', 'enabled'],
      webhook: { ...WANTED, id, url, enabled: false },
    });
    const enabled_events: WantedWebhook['enabled_events'] = [
      { entity: 'dispute', types: [] },
      { entity: 'transfer', types: ['failed', 'succeeded'] },
    ];
    expect(await client.webhooks.ensure({ url, enabled_events })).toMatchObject({ changes: [] });
  });

  test('wakes a webhook that the sandbox has given up', async () => {
    const { client, sandbox } = await openService();
    const url = 'http://127.0.0.1:1/nobody';
    await client.webhooks.ensure({ url });
    sandbox.send({ type: 'transfer.created' });
    await sandbox.clock.advance(3_600_000);
    expect(await client.webhooks.ensure({ url })).toMatchObject({ changes: [], webhook: { enabled: false } });
    expect(await client.webhooks.ensure({ url, enabled: true })).toMatchObject({
      changes: ['enabled'],
      webhook: { enabled: true },
    });
  });

  test('finds the enabled one beside what a rotation has left, and refuses to guess between two', async () => {
    const { client } = await openService();
    const { webhook } = await client.webhooks.ensure(WANTED);
    const rotated = await client.webhooks.rotate(webhook.id, { onSigningKey: () => {} });
    expect(await client.webhooks.ensure(WANTED)).toMatchObject({
      changes: [],
      webhook: { id: rotated.webhook.id },
    });
    await client.webhooks.update(webhook.id, { enabled: true });
    await expect(client.webhooks.ensure(WANTED)).rejects.toMatchObject({ code: 'webhook_ambiguous' });
    await expect(client.webhooks.ensure({ ...WANTED, id: 'unknown' })).rejects.toMatchObject({ status: 404 });
  });
});
