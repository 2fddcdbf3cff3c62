import type { HmacSignatureOptions } from '../../receiver/authentication/hmac-scheme.ts';
import { hmacSignature } from '../../receiver/authentication/hmac-signature.ts';
import { checkOptions, invalidOption } from '../../receiver/checks/check-options.ts';
import { defineProvider } from '../../receiver/provider/define-provider.ts';
import type { Provider, Retries } from '../../receiver/provider/provider.ts';
import { propertyOf, show, textOf } from '../../receiver/values/foreign-values.ts';
import { parseTimeInParts } from '../iso-time.ts';
import { type IdentifiedEvent, readPayload } from '../payload.ts';
import { decodeSecret } from './secret.ts';
import { testingWith } from './testing.ts';

/** A payload of Standard Webhooks, with the id of its header. It may have further members. */
export interface StandardWebhooksEvent extends IdentifiedEvent {
  /** When the event happened, in ISO 8601; recommended only. */
  readonly timestamp?: string;
  /** Recommended only. */
  readonly data?: unknown;
  /** Any other member of the payload. */
  readonly [member: string]: unknown;
}

/** Options of {@link standardWebhooks}. */
export interface StandardWebhooksOptions {
  /** `standard-webhooks` by default. Each sender needs its own name, because two may give the same ids. */
  readonly name?: string | undefined;
  /** The beginning of the headers' names; `webhook` by default, and `svix` for many senders. */
  readonly headerPrefix?: string | undefined;
  /** The time that the sender waits for an answer; 15,000 by default, the least that is recommended. */
  readonly answerWithinMs?: number | undefined;
  /**
   * The retries; by default the specification's example, nine within 75.6 hours, and for `svix` seven within
   * 27.6 hours.
   */
  readonly retries?: Retries | undefined;
  /** The default of the receiver's `maxBodyBytes`; 1,048,576 by default. */
  readonly maxBodyBytes?: number | undefined;
}

/**
 * A sender that follows Standard Webhooks
 * (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md). The signing
 * key is base64, with `whsec_` before it or not; bytes are the key as it stands. Handlers get the payload
 * with the `id` of the header `webhook-id`. A payload must have a `type`.
 *
 * @throws ConfigurationError for a wrong or unknown option; `createReceiver` throws it for a key that is not
 * base64.
 *
 * @example
 * ```ts
 * import { createReceiver } from 'posthorn';
 * import { standardWebhooks } from 'posthorn/providers';
 *
 * const provider = standardWebhooks({ name: 'clerk', headerPrefix: 'svix' });
 * const receiver = createReceiver({ provider, signingKey: process.env.CLERK_KEY });
 * receiver.on('user.created', (event) => console.log(event.id));
 * ```
 */
export function standardWebhooks<E extends IdentifiedEvent = StandardWebhooksEvent>(
  options: StandardWebhooksOptions = {},
): Provider<E> {
  checkOptions(
    options,
    ['name', 'headerPrefix', 'answerWithinMs', 'retries', 'maxBodyBytes'],
    'standardWebhooks',
  );
  const { name = 'standard-webhooks', headerPrefix = 'webhook', maxBodyBytes } = options;
  if (typeof headerPrefix !== 'string' || !/^[a-z0-9-]+$/i.test(headerPrefix))
    throw invalidOption(
      'headerPrefix',
      `must be the beginning of a header's name, got ${show(headerPrefix)}`,
    );
  const prefix = headerPrefix.toLowerCase();
  const { answerWithinMs = 15_000, retries = prefix === 'svix' ? SVIX_RETRIES : EXAMPLE_RETRIES } = options;
  const headerOf = (part: string): string => `${prefix}-${part}`;
  return defineProvider<E>({
    name,
    signature: hmacSignature({
      encoding: 'base64',
      key: decodeSecret,
      read: readerOf(headerOf),
    }),
    readEvent: ({ rawBody, headers }) => {
      const event = readPayload<E>(rawBody, { id: textOf(headers.get(headerOf('id'))) });
      const resource = textOf(propertyOf(propertyOf(event, 'data'), 'id'));
      return { id: event.id, type: event.type, ...timeOf(event), resource, event };
    },
    answerWithinMs,
    retries,
    // The specification recommends to disable an endpoint that fails for long, and senders do so.
    cutsOff: true,
    maxBodyBytes,
    testing: testingWith(headerOf),
  });
}

/** Reads `v1,<base64>` for each secret that is valid, between spaces; `v1a` is for public keys. */
function readerOf(headerOf: (part: string) => string): HmacSignatureOptions['read'] {
  return (headers) => {
    const entries = (headers.get(headerOf('signature')) ?? '').split(' ').map((entry) => entry.split(','));
    const signatures = entries.flatMap(([version, value = '']) => (version === 'v1' ? [value] : []));
    const [id = '', sentTime = ''] = [headers.get(headerOf('id')), headers.get(headerOf('timestamp'))];
    const time = String(Number.parseInt(sentTime, 10));
    const isWhole = id !== '' && sentTime !== '';
    return {
      signatures: isWhole ? signatures : [],
      time,
      content: (rawBody) => [`${id}.${time}.`, rawBody],
    };
  };
}

const [SECOND_MS, MINUTE_MS, HOUR_MS] = [1_000, 60_000, 3_600_000];

/** The section "Operational considerations": ten attempts in all. */
const EXAMPLE_RETRIES: Retries = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
];

/** Eight attempts in all (https://docs.svix.com/retries). */
const SVIX_RETRIES: Retries = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  ...[2, 5, 10, 10].map((hours) => hours * HOUR_MS),
];

/** The time of the event, which is not that of the signature: each attempt is signed anew. */
function timeOf(event: IdentifiedEvent & { readonly timestamp?: unknown }) {
  const createdAt = textOf(event.timestamp);
  const createdAtMs = createdAt === undefined ? undefined : parseTimeInParts(createdAt);
  return createdAtMs === undefined ? {} : { createdAtMs, createdAt };
}
