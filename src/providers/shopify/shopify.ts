import { hmacSignature } from '../../receiver/authentication/hmac-signature.ts';
import { checkOptions } from '../../receiver/checks/check-options.ts';
import { EventError, SignatureError } from '../../receiver/errors.ts';
import { defineProvider } from '../../receiver/provider/define-provider.ts';
import type { Provider, ProviderRequest, ReadEvent, Retries } from '../../receiver/provider/provider.ts';
import { textOf } from '../../receiver/values/foreign-values.ts';
import { parseTimeInParts } from '../iso-time.ts';
import { isJsonObject, parseJson } from '../parse-json.ts';
import type { IdentifiedEvent } from '../payload.ts';
import { shopifyTesting } from './testing.ts';

/** A webhook of Shopify: its headers beside its body. */
export interface ShopifyEvent extends IdentifiedEvent {
  /** The topic and the id of the action, for example `orders/create:98880550-7158-44d4-b7cd-2c97c8a091b5`. */
  readonly id: string;
  /** The topic with dots: `orders.create`. */
  readonly type: string;
  /** The topic as Shopify has it: `orders/create`. */
  readonly topic: string;
  /** The shop's domain, for example `example.myshopify.com`. The signature does not cover it. */
  readonly shop: string;
  /** The version of the form of `payload`, for example `2026-10`. */
  readonly apiVersion?: string | undefined;
  /** The body: the resource, in the form of the topic. */
  readonly payload: { readonly [member: string]: unknown };
}

/** Options of {@link shopify}. */
export interface ShopifyOptions {
  /** `shopify` by default. A second application needs another name. */
  readonly name?: string | undefined;
  /** The time that Shopify waits for an answer; 5,000 by default. */
  readonly answerWithinMs?: number | undefined;
  /** The retries; `{ forMs: 14_400_000, least: 8 }` by default. */
  readonly retries?: Retries | undefined;
  /** The default of the receiver's `maxBodyBytes`; 1,048,576 by default. */
  readonly maxBodyBytes?: number | undefined;
}

/**
 * Webhooks of Shopify (https://shopify.dev/docs/apps/build/webhooks). The signing key is the client secret of
 * the application; one secret serves all shops. The signature covers the body alone: type, id, shop and time
 * come from headers.
 *
 * @throws ConfigurationError for a wrong or unknown option.
 *
 * @example
 * ```ts
 * import { createReceiver } from 'posthorn';
 * import { shopify } from 'posthorn/providers';
 *
 * const receiver = createReceiver({ provider: shopify(), signingKey: process.env.SHOPIFY_CLIENT_SECRET });
 * receiver.on('orders.create', ({ shop, payload }) => console.log(shop, payload.total_price));
 * ```
 */
export function shopify(options: ShopifyOptions = {}): Provider<ShopifyEvent> {
  checkOptions(options, ['name', 'answerWithinMs', 'retries', 'maxBodyBytes'], 'shopify');
  const { name = 'shopify', answerWithinMs = 5_000, retries = PUBLISHED_RETRIES, maxBodyBytes } = options;
  return defineProvider<ShopifyEvent>({
    name,
    signature,
    readEvent,
    answerWithinMs,
    retries,
    // After the last retry Shopify deletes a subscription that was made by its Admin API.
    cutsOff: true,
    maxBodyBytes,
    testing: shopifyTesting,
  });
}

/** Eight in four hours (https://shopify.dev/changelog/updates-to-webhook-retry-mechanism). */
const PUBLISHED_RETRIES: Retries = { forMs: 4 * 3_600_000, least: 8 };

/** Base64 of the body alone (https://shopify.dev/docs/apps/build/webhooks/verify-deliveries). */
const signature = hmacSignature({
  encoding: 'base64',
  read: (headers) => {
    const sent = headers.get('x-shopify-hmac-sha256');
    if (sent === undefined && headers.get('shopify-hmac-sha256') !== undefined) throw nextGeneration();
    return { signatures: sent === undefined ? [] : [sent] };
  },
});

/**
 * Since API version 2026-10 Shopify has a second kind of subscription, whose headers have no `x-` and whose
 * bodies have another form
 * (https://shopify.dev/changelog/next-generation-events-are-now-generally-available).
 */
function nextGeneration(): SignatureError {
  return new SignatureError(
    'signature_missing',
    'the header "x-shopify-hmac-sha256" is missing, and "shopify-hmac-sha256" was sent: this is a delivery of ' +
      "Shopify's Next Gen Events, which shopify() does not read; subscribe to the topic under [webhooks] of " +
      'shopify.app.toml, or give its URL to a receiver with a provider of your own',
  );
}

/** All but the payload is in headers (https://shopify.dev/docs/apps/build/webhooks/delivery-structure). */
function readEvent({ rawBody, headers }: ProviderRequest): ReadEvent<ShopifyEvent> {
  const headerOf = (part: string): string | undefined => textOf(headers.get(`x-shopify-${part}`));
  const [topic, shop, createdAt = ''] = ['topic', 'shop-domain', 'triggered-at'].map(headerOf);
  // Two subscriptions get one action under two webhook ids. Older deliveries have no id of the action.
  const actionId = headerOf('event-id') ?? headerOf('webhook-id');
  const type = topic?.replaceAll('/', '.');
  const id = topic === undefined || actionId === undefined ? undefined : `${topic}:${actionId}`;
  const payload = parseJson(rawBody, { id, type });
  if (id === undefined || type === undefined || topic === undefined || shop === undefined)
    throw new EventError(
      'envelope_invalid',
      'the request is not a webhook of Shopify: it must have the headers x-shopify-topic, x-shopify-shop-domain ' +
        'and x-shopify-event-id or x-shopify-webhook-id',
      { id, type },
    );
  if (!isJsonObject(payload))
    throw new EventError('envelope_invalid', 'the body is not an event: it must be an object', { id, type });
  const event = { id, type, topic, shop, apiVersion: headerOf('api-version'), payload };
  const createdAtMs = parseTimeInParts(createdAt);
  const time = createdAtMs !== undefined && { createdAtMs, createdAt };
  return { id, type, ...time, resource: resourceOf(payload), event };
}

/** Most ids of Shopify are numbers. */
function resourceOf({ id }: ShopifyEvent['payload']): string | undefined {
  return typeof id === 'number' ? String(id) : textOf(id);
}
