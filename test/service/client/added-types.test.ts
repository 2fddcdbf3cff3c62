import { createReceiver, defineProvider, hmacSignature } from 'posthorn';
import { createClient, type WebhookRequest } from 'posthorn/client';
import { bankingService } from 'posthorn/providers';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { errorOf } from '../../support/error-of.ts';
import { WebhookService } from './webhook-service.ts';

const URL = 'https://example.com/hooks';
const provider = bankingService({ catalog: { payout: ['created', 'batch.closed'], dispute: ['paused'] } });

const administrator = { username: 'admin', password: 'literal-password' };

/** A client of a service that has added types since. */
async function open() {
  const baseUrl = await new WebhookService().open();
  return createClient({ baseUrl, administrator, provider }).webhooks;
}

describe('a client with the provider', () => {
  test('takes patterns and filters of the added types', async () => {
    const webhooks = await open();
    const { id, enabled_events } = await webhooks.create({
      url: URL,
      enabled_events: ['payout.created', 'dispute.*'],
    });
    expect(enabled_events).toEqual([
      { entity: 'dispute', types: ['created', 'updated', 'won', 'lost', 'paused'] },
      { entity: 'payout', types: ['created'] },
    ]);
    const updated = await webhooks.update(id, { enabled_events: ['payout.batch.*'] });
    expect(updated.enabled_events).toEqual([{ entity: 'payout', types: ['batch.closed'] }]);
    const filter = { entity: 'payout', types: ['created'] } as const;
    const wanted = { url: URL, enabled_events: [filter] } as const;
    expect(await webhooks.ensure(wanted)).toMatchObject({ changes: ['enabled_events'] });
    expect(await webhooks.ensure({ url: URL, enabled_events: ['payout.created'] })).toMatchObject({
      changes: [],
      webhook: { enabled_events: [filter] },
    });
  });

  test('takes the filters of its receiver', async () => {
    const webhooks = await open();
    const receiver = createReceiver({ signingKey: 'k', provider })
      .on('payout.*', ({ data }) => data.id)
      .on('dispute.paused', () => {});
    const filters = receiver.eventFilters();
    expect(filters).toEqual([
      { entity: 'dispute', types: ['paused'] },
      { entity: 'payout', types: ['created', 'batch.closed'] },
    ]);
    const { webhook } = await webhooks.ensure({ url: URL, enabled_events: filters });
    expect(webhook.enabled_events).toEqual(filters);
    const [first] = filters;
    if (first?.entity !== 'payout') return;
    expectTypeOf(first.types).toEqualTypeOf<readonly ('created' | 'batch.closed')[]>();
  });

  test('refuses a misspelt type, for the compiler and with the nearest', async () => {
    const webhooks = await open();
    const refusal = errorOf('configuration_invalid', 'Did you mean "payout.created"?');
    // @ts-expect-error misspelt
    const misspelt = webhooks.create({ url: URL, enabled_events: ['payout.creatd'] });
    await expect(misspelt).rejects.toMatchObject(refusal);
    type Update = Parameters<typeof webhooks.update>[1];
    // @ts-expect-error misspelt
    const filter: Update = { enabled_events: [{ entity: 'payuot', types: [] }] };
    expect(filter).toBeDefined();
  });

  test('that lists no types, and a value that is none, are refused by name', () => {
    const acme = defineProvider({
      name: 'acme',
      signature: hmacSignature({ encoding: 'hex', read: () => ({ signatures: [] }) }),
      readEvent: () => ({ id: '1', type: 'push', event: { type: 'push' } }),
      answerWithinMs: 1_000,
      retries: 'none',
    });
    const create = (other: typeof acme) => () =>
      createClient({ baseUrl: 'https://a.example', provider: other });
    expect(create(acme)).toThrow(
      'provider must be a provider with a list of types, such as bankingService({',
    );
    expect(create(acme)).toThrow('got acme');
    expect(create(JSON.parse('{"types":[1]}'))).toThrow('provider must be a provider with a list of types');
  });
});

test('without the provider a client knows the types of the catalog alone', async () => {
  const { webhooks } = createClient({ baseUrl: 'https://api.example.com', administrator });
  // @ts-expect-error not in the catalog
  const request: WebhookRequest = { url: URL, enabled_events: ['payout.created'] };
  await expect(webhooks.create(request)).rejects.toThrow('"payout.created" matches no event type.');
});
