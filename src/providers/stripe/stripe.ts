import { hmacSignature } from '../../receiver/authentication/hmac-signature.ts';
import { checkOptions } from '../../receiver/checks/check-options.ts';
import { isTimeMs } from '../../receiver/events/age.ts';
import { defineProvider } from '../../receiver/provider/define-provider.ts';
import type { Provider, Retries } from '../../receiver/provider/provider.ts';
import { propertyOf, textOf } from '../../receiver/values/foreign-values.ts';
import { parseTimeInParts } from '../iso-time.ts';
import { type IdentifiedEvent, readPayload } from '../payload.ts';
import { stripeTesting } from './testing.ts';

/** An event of Stripe (https://docs.stripe.com/api/events/object). It has further members. */
export interface StripeEvent extends IdentifiedEvent {
  /** `event`. */
  readonly object: string;
  /** In seconds since the epoch. */
  readonly created: number;
  /** False for an event of a sandbox. */
  readonly livemode: boolean;
  /** The connected account, if the event is of one. */
  readonly account?: string;
  /** The change. */
  readonly data: {
    /** The resource, in the API version of the endpoint. */
    readonly object: { readonly [member: string]: unknown };
    readonly previous_attributes?: { readonly [member: string]: unknown };
  };
}

/** Options of {@link stripe}. */
export interface StripeOptions {
  /** `stripe` by default. A second endpoint, for example of connected accounts, needs another name. */
  readonly name?: string | undefined;
  /** The time that Stripe waits for an answer; 10,000 by default, because Stripe does not publish it. */
  readonly answerWithinMs?: number | undefined;
  /** The retries; `{ forMs: 259_200_000, least: 3 }` by default. */
  readonly retries?: Retries | undefined;
  /** The default of the receiver's `maxBodyBytes`; 1,048,576 by default. */
  readonly maxBodyBytes?: number | undefined;
}

/**
 * Stripe (https://docs.stripe.com/webhooks). The signing key is the endpoint's secret, the whole text with
 * its `whsec_`. Handlers get Stripe's event; `E` is the union of its types, as Stripe's package declares it.
 * A thin event (`v2.core.event`) has no `data`: for those, `E` is `Stripe.V2.Core.EventNotification`.
 *
 * @throws ConfigurationError for a wrong or unknown option.
 *
 * @example
 * ```ts
 * import { createReceiver } from 'posthorn';
 * import { stripe } from 'posthorn/providers';
 * import type Stripe from 'stripe';
 *
 * const receiver = createReceiver({ provider: stripe<Stripe.Event>(), signingKey: process.env.STRIPE_KEY });
 * receiver.on('invoice.paid', (event) => console.log(event.data.object.amount_paid));
 * ```
 */
export function stripe<E extends IdentifiedEvent = StripeEvent>(options: StripeOptions = {}): Provider<E> {
  checkOptions(options, ['name', 'answerWithinMs', 'retries', 'maxBodyBytes'], 'stripe');
  const { name = 'stripe', answerWithinMs = 10_000, retries = PUBLISHED_RETRIES, maxBodyBytes } = options;
  return defineProvider<E>({
    name,
    signature,
    readEvent: ({ rawBody }) => {
      const event = readPayload<E>(rawBody);
      const { id, type } = event;
      return { id, type, createdAtMs: createdAtMsOf(event), resource: resourceOf(event), event };
    },
    answerWithinMs,
    retries,
    maxBodyBytes,
    testing: stripeTesting,
  });
}

/**
 * Live mode sends for three days, at intervals that are not published; a sandbox sends three times again
 * within hours (https://docs.stripe.com/webhooks#automatic-retries). So three retries are certain in both.
 */
const PUBLISHED_RETRIES: Retries = { forMs: 3 * 86_400_000, least: 3 };

/** `t=<seconds>,v1=<hex>`, a `v1` for each secret that is valid; the time is signed as a number. */
const signature = hmacSignature({
  encoding: 'hex',
  read: (headers) => {
    const items = (headers.get('stripe-signature') ?? '').split(',').map((item) => item.split('='));
    const time = String(Number.parseInt(items.findLast(([name]) => name === 't')?.[1] ?? '', 10));
    const signatures = items.flatMap(([name, value = '']) => (name === 'v1' ? [value] : []));
    // Stripe's package refuses a header with an empty one, whatever the others are.
    const isWhole = !signatures.includes('');
    return { signatures: isWhole ? signatures : [], time, content: (rawBody) => [`${time}.`, rawBody] };
  },
});

/** The object is in `data.object`; a thin event names it in `related_object`. */
function resourceOf(event: IdentifiedEvent): string | undefined {
  const object = propertyOf(propertyOf(event, 'data'), 'object') ?? propertyOf(event, 'related_object');
  return textOf(propertyOf(object, 'id'));
}

/** An event says it in seconds, and a thin event in ISO 8601. */
function createdAtMsOf(event: IdentifiedEvent & { readonly created?: unknown }): number | undefined {
  const { created } = event;
  if (typeof created === 'string') return parseTimeInParts(created);
  const createdAtMs = Number(created) * 1_000;
  return typeof created === 'number' && isTimeMs(createdAtMs) ? createdAtMs : undefined;
}
