import { ConfigurationError, catalog, createReceiver } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { openService } from './service.ts';

const URL = 'https://example.com/hooks';
const TRANSFERS = { entity: 'transfer', types: catalog.transfer };
const CREATED = { entity: 'dispute', types: ['created'] };

describe('enabled_events takes patterns', () => {
  test('in create and in update: each is sent as the types of today', async () => {
    const { client } = await openService();
    const { webhooks } = client;
    const { id, ...created } = await webhooks.create({
      url: URL,
      enabled_events: ['dispute.created', 'transfer.*', 'transfer.failed'],
    });
    expect(created.enabled_events).toEqual([TRANSFERS, CREATED]);
    const updated = await webhooks.update(id, { enabled_events: ['merchant.verification.*'] });
    expect(updated.enabled_events).toEqual([
      { entity: 'merchant', types: ['verification.succeeded', 'verification.failed'] },
    ]);
    expect((await webhooks.update(id, { enabled_events: ['*', 'dispute.won'] })).enabled_events).toEqual([]);
    expect((await webhooks.retrieve(id)).enabled_events).toEqual([]);
  });

  test('in ensure, which changes nothing where the webhook has these types already', async () => {
    const { client, gateway } = await openService();
    const wanted = { url: URL, enabled_events: ['transfer.*', 'dispute.created'] } as const;
    expect(await client.webhooks.ensure(wanted)).toMatchObject({
      changes: ['created'],
      webhook: { enabled_events: [TRANSFERS, CREATED] },
    });
    gateway.lines.length = 0;
    expect(await client.webhooks.ensure(wanted)).toMatchObject({ changes: [] });
    expect(gateway.lines).toEqual(['GET /payments/na/webhooks?limit=100&offset=0']);
    expect(await client.webhooks.ensure({ ...wanted, enabled_events: ['dispute.created'] })).toMatchObject({
      changes: ['enabled_events'],
      webhook: { enabled_events: [CREATED] },
    });
    const asFilters = { ...wanted, enabled_events: [{ entity: 'dispute', types: ['created'] }] } as const;
    expect(await client.webhooks.ensure(asFilters)).toMatchObject({ changes: [] });
  });

  test('and what a receiver handles is what ensure asks for', async () => {
    const { client } = await openService();
    const receiver = createReceiver({ signingKey: 'k' })
      .on('transfer.*', () => {})
      .on('dispute.created', () => {});
    const ensure = () => client.webhooks.ensure({ url: URL, enabled_events: receiver.eventFilters() });
    expect(await ensure()).toMatchObject({ webhook: { enabled_events: [TRANSFERS, CREATED] } });
    receiver.onUnhandled(() => {});
    expect(await ensure()).toMatchObject({ changes: ['enabled_events'], webhook: { enabled_events: [] } });
  });
});

describe('is refused before anything is sent:', () => {
  const wrong = [
    {
      name: 'a misspelt pattern',
      events: ['transfer.created', 'transfer.suceeded'],
      message: /"transfer\.suceeded" matches no event type\. Did you mean "transfer\.succeeded"\?/,
    },
    {
      name: 'patterns and filters in one list',
      events: ['transfer.*', CREATED],
      message:
        /enabled_events of webhooks\.\w+ must be a list of patterns, .* or a list of filters, .* not of both/,
    },
    { name: 'a pattern alone', events: 'transfer.*', message: /must be a list .* got "transfer\.\*"/ },
    { name: 'null', events: null, message: /must be a list .* got null/ },
  ];

  test.each(wrong)('$name', async ({ events, message }) => {
    const { client, gateway } = await openService();
    const { webhooks } = client;
    const members = { url: URL, enabled_events: events };
    for (const call of [
      () => Reflect.apply(webhooks.create, webhooks, [members]),
      () => Reflect.apply(webhooks.update, webhooks, ['WH1', members]),
      () => Reflect.apply(webhooks.ensure, webhooks, [members]),
    ]) {
      const error: unknown = await call().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(String(error)).toMatch(message);
    }
    expect(gateway.lines).toEqual([]);
  });
});
