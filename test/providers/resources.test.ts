import { createReceiver, type Provider } from 'posthorn';
import { bankingService, github, shopify, slack, standardWebhooks, stripe } from 'posthorn/providers';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { acme } from '../receiver/provider/senders.ts';

const TRANSFER = createEvent('transfer.succeeded');
const SECONDS = Math.floor(Date.now() / 1_000);
const FOR_SHOPIFY = {
  'x-shopify-topic': 'orders/create',
  'x-shopify-event-id': 'e1',
  'x-shopify-shop-domain': 'billing.example.com',
};

/** A provider whose `readEvent` gives this as the resource, which only the compiler would refuse. */
function ownProvider(resource: unknown): Provider {
  const event = { event_id: 'ev_1', type: 'invoice.paid' };
  const readEvent = () => ({ id: event.event_id, type: event.type, event, resource });
  return Reflect.apply(acme, undefined, [{ readEvent }]);
}

interface Sample {
  readonly name: string;
  readonly provider: Provider;
  readonly body: object;
  readonly headers?: Record<string, string>;
  readonly resource: string | undefined;
}

const samples: readonly Sample[] = [
  { name: 'the banking service', provider: bankingService(), body: TRANSFER, resource: TRANSFER.data.id },
  {
    name: 'Stripe',
    provider: stripe(),
    body: {
      id: 'evt_1',
      object: 'event',
      type: 'invoice.paid',
      created: SECONDS,
      data: { object: { id: 'in_1' } },
    },
    resource: 'in_1',
  },
  {
    name: 'Stripe, of a thin event',
    provider: stripe(),
    body: {
      id: 'evt_1',
      object: 'v2.core.event',
      type: 'v1.invoice.paid',
      created: new Date().toISOString(),
      related_object: { id: 'in_1', type: 'invoice' },
    },
    resource: 'in_1',
  },
  {
    name: 'Standard Webhooks',
    provider: standardWebhooks(),
    body: { type: 'invoice.paid', timestamp: new Date().toISOString(), data: { id: 'in_1' } },
    headers: { 'webhook-id': 'msg_1' },
    resource: 'in_1',
  },
  {
    name: 'Standard Webhooks, without an id in the data',
    provider: standardWebhooks(),
    body: { type: 'invoice.paid', timestamp: new Date().toISOString(), data: { id: { is: 'an object' } } },
    headers: { 'webhook-id': 'msg_1' },
    resource: undefined,
  },
  {
    name: 'Shopify',
    provider: shopify(),
    body: { id: 820982911 },
    headers: FOR_SHOPIFY,
    resource: '820982911',
  },
  {
    name: 'Shopify, with an id that is a text',
    provider: shopify(),
    body: { id: 'gid://shopify/Order/1' },
    headers: FOR_SHOPIFY,
    resource: 'gid://shopify/Order/1',
  },
  { name: "a provider of one's own", provider: ownProvider('in_1'), body: {}, resource: 'in_1' },
  {
    name: "a provider of one's own, that gives a number",
    provider: ownProvider(5),
    body: {},
    resource: undefined,
  },
  {
    name: 'GitHub',
    provider: github(),
    body: { action: 'opened', issue: { id: 1 } },
    headers: { 'x-github-event': 'issues', 'x-github-delivery': 'd1' },
    resource: undefined,
  },
  {
    name: 'Slack',
    provider: slack(),
    body: {
      type: 'event_callback',
      team_id: 'T1',
      event_id: 'Ev1',
      event_time: SECONDS,
      event: { type: 'app_mention', channel: 'C1' },
    },
    resource: undefined,
  },
];

describe('the resource of an event', () => {
  test.each(samples)(
    'of $name is in the context of its handlers',
    async ({ provider, body, headers, resource }) => {
      const seen: unknown[] = [];
      const receiver = createReceiver({
        provider,
        signingKey: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      }).observe(() => {});
      receiver.on('*', (_event, { event }) => void seen.push(event.resource));
      const options = { source: 'a list', headers, createdAtMs: Date.now() };
      expect(await receiver.accept(body, options)).toMatchObject({ outcome: 'processed' });
      expect(seen).toEqual([resource]);
    },
  );
});
