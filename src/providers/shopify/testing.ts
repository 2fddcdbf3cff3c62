import { sign } from '../../receiver/authentication/signature.ts';
import type { ProviderTesting } from '../../receiver/provider/provider.ts';
import { requirePlayedEvent } from '../played-event.ts';

/** Plays Shopify (https://shopify.dev/docs/apps/build/webhooks/delivery-structure). */
export const shopifyTesting: ProviderTesting = {
  createEvent: ({ createdAtMs, data = { id: 820_982_911, total_price: '12.50' } }) =>
    Object.assign({ updated_at: new Date(createdAtMs).toISOString() }, data),
  sign: ({ rawBody, key, event }) => {
    const { id, type } = requirePlayedEvent(event, 'shopify');
    const topic = type.replaceAll('.', '/');
    return {
      'x-shopify-hmac-sha256': Buffer.from(sign(rawBody, key), 'hex').toString('base64'),
      'x-shopify-topic': topic,
      'x-shopify-shop-domain': 'sample.myshopify.com',
      // An id that this provider has read begins with the topic.
      'x-shopify-event-id': id.startsWith(`${topic}:`) ? id.slice(topic.length + 1) : id,
    };
  },
};
