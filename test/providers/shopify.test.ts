import { getHmac } from '@shopify/shopify-api/test-helpers';
import { createReceiver, type DeadLetter, type EventIdentity } from 'posthorn';
import { shopify } from 'posthorn/providers';
import { createEvent, deliver, signedHeaders } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';

const key = 'shpss_of_the_tests';
const body = '{"id":820982911,"total_price":"12.50"}';
const sent = {
  'x-shopify-topic': 'orders/create',
  'x-shopify-shop-domain': 'example.myshopify.com',
  'x-shopify-api-version': '2026-10',
  'x-shopify-webhook-id': 'w1',
  'x-shopify-event-id': 'e1',
  'x-shopify-triggered-at': new Date(Date.now() - 60_000).toISOString(),
};
type Changes = Readonly<Record<string, string | undefined>>;

/** A receiver, and what it does with webhooks that are signed by Shopify's own function. */
function create() {
  const identities: EventIdentity[] = [];
  const events: object[] = [];
  const letters = new Map<string, DeadLetter>();
  const deadLetters = createMapDeadLetters(letters);
  const receiver = createReceiver({ provider: shopify(), signingKey: key, deadLetters });
  receiver
    .observe(() => {})
    .on('*', (event, context) => {
      events.push(event);
      identities.push(context.event);
    });
  const receive = async (changes: Changes = {}, rawBody = body) => {
    const headers = { ...sent, 'x-shopify-hmac-sha256': getHmac(rawBody, key), ...changes };
    const answer = await receiver.receive({ method: 'POST', headers, readBody: () => rawBody });
    return JSON.parse(String(answer.body));
  };
  return { receiver, receive, events, identities, letters };
}

describe('shopify()', () => {
  test('has the limit and the retries that Shopify publishes', () => {
    const retries = { forMs: 14_400_000, least: 8 };
    expect(shopify()).toMatchObject({ answerWithinMs: 5_000, retries, cutsOff: true });
  });

  test('hands over the payload, with what the headers say', async () => {
    const { receive, events, identities } = create();
    const id = 'orders/create:e1';
    expect(await receive()).toEqual({ outcome: 'processed', id });
    const names = { topic: 'orders/create', shop: 'example.myshopify.com', apiVersion: '2026-10' };
    expect(events).toEqual([{ id, type: 'orders.create', ...names, payload: JSON.parse(body) }]);
    const createdAtMs = Date.parse(sent['x-shopify-triggered-at']);
    expect(identities).toMatchObject([{ id, type: 'orders.create', createdAtMs, provider: 'shopify' }]);
  });

  test('takes one action under two topics for two events, and under two webhook ids for one', async () => {
    const { receive, identities } = create();
    const changes = [{}, { 'x-shopify-topic': 'orders/paid' }, { 'x-shopify-webhook-id': 'w2' }];
    const outcomes: unknown[] = [];
    for (const each of changes) outcomes.push((await receive(each)).outcome);
    expect(outcomes).toEqual(['processed', 'processed', 'duplicate']);
    expect(identities.map(({ id }) => id)).toEqual(['orders/create:e1', 'orders/paid:e1']);
  });

  test('takes the webhook id, if the action has none', async () => {
    expect((await create().receive({ 'x-shopify-event-id': undefined })).id).toBe('orders/create:w1');
  });

  test.each([undefined, '', 'soon'])('handles a webhook with the time %j as undated', async (time) => {
    const { receive, identities } = create();
    expect((await receive({ 'x-shopify-triggered-at': time })).outcome).toBe('processed');
    expect(identities[0]?.createdAtMs).toBeUndefined();
  });

  test.each<{ changes: Changes; rawBody?: string; code?: string }>([
    { changes: { 'x-shopify-topic': undefined } },
    { changes: { 'x-shopify-shop-domain': '' } },
    { changes: { 'x-shopify-event-id': undefined, 'x-shopify-webhook-id': undefined } },
    { changes: {}, rawBody: '[]' },
    { changes: {}, rawBody: 'a=1', code: 'body_not_json' },
  ])('parks $changes $rawBody', async ({ changes, rawBody, code = 'envelope_invalid' }) => {
    const { receive, events, letters } = create();
    expect((await receive(changes, rawBody)).outcome).toBe('parked');
    expect(events).toEqual([]);
    expect([...letters.values()]).toMatchObject([{ provider: 'shopify', reason: code }]);
  });

  test('refuses the headers of Next Gen Events by name', async () => {
    const { receiver } = create();
    const headers = { 'shopify-hmac-sha256': getHmac(body, key), 'shopify-topic': 'Product' };
    await expect(receiver.verify(body, headers)).rejects.toMatchObject({
      code: 'signature_missing',
      message: expect.stringContaining('"shopify-hmac-sha256" was sent: this is a delivery of'),
    });
    await expect(receiver.verify(body, {})).rejects.toThrow(
      /^the header "x-shopify-hmac-sha256" is missing$/,
    );
  });

  test.each([
    { options: { name: '' }, says: 'name of the provider' },
    { options: { answerWithinMs: 0 }, says: 'answerWithinMs' },
    { options: { apiSecretKey: '' }, says: '"apiSecretKey" is not an option of shopify' },
  ])('refuses $options', ({ options, says }) => {
    expect(() => shopify(options)).toThrow(says);
  });
});

test("createEvent, signedHeaders and deliver sign as Shopify's package does", async () => {
  const provider = shopify();
  const event = createEvent('orders.create', { id: 1 }, { provider });
  const text = JSON.stringify(event);
  const id = 'orders/create:e1';
  const headers = signedHeaders(text, { provider, key, event: { id, type: 'orders.create' } });
  expect(headers['x-shopify-hmac-sha256']).toBe(getHmac(text, key));
  expect(headers).toMatchObject({ 'x-shopify-topic': 'orders/create', 'x-shopify-event-id': 'e1' });
  const { receiver, events } = create();
  await deliver(receiver, event, { provider, key });
  expect(events).toMatchObject([{ type: 'orders.create', payload: { id: 1 } }]);
});
