import { createHash } from 'node:crypto';
import { hmacSignature } from '../receiver/authentication/hmac-signature.ts';
import type { Key } from '../receiver/authentication/key.ts';
import { sign } from '../receiver/authentication/signature.ts';
import { checkOptions, invalidOption } from '../receiver/checks/check-options.ts';
import { ConfigurationError } from '../receiver/errors.ts';
import { defineProvider } from '../receiver/provider/define-provider.ts';
import type { Provider, ProviderTesting, Retries } from '../receiver/provider/provider.ts';
import { propertyOf, show, textOf } from '../receiver/values/foreign-values.ts';
import { parseTimeInParts } from './iso-time.ts';
import { parseJson } from './parse-json.ts';
import { type IdentifiedEvent, readPayload } from './payload.ts';

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
  /** The retries; by default the specification's example, nine within 75.6 hours. */
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
  const { answerWithinMs = 15_000, retries = EXAMPLE_RETRIES } = options;
  if (typeof headerPrefix !== 'string' || !/^[a-z0-9-]+$/i.test(headerPrefix))
    throw invalidOption(
      'headerPrefix',
      `must be the beginning of a header's name, got ${show(headerPrefix)}`,
    );
  const headerOf = (part: string): string => `${headerPrefix.toLowerCase()}-${part}`;
  return defineProvider<E>({
    name,
    /** `v1,<base64>` for each secret that is valid, between spaces; `v1a` is for public keys. */
    signature: hmacSignature({
      encoding: 'base64',
      key: decodeSecret,
      read: (headers) => {
        const entries = (headers.get(headerOf('signature')) ?? '')
          .split(' ')
          .map((entry) => entry.split(','));
        const signatures = entries.flatMap(([version, value = '']) => (version === 'v1' ? [value] : []));
        const [id = '', sentTime = ''] = [headers.get(headerOf('id')), headers.get(headerOf('timestamp'))];
        const time = String(Number.parseInt(sentTime, 10));
        const isWhole = id !== '' && sentTime !== '';
        return {
          signatures: isWhole ? signatures : [],
          time,
          content: (rawBody) => [`${id}.${time}.`, rawBody],
        };
      },
    }),
    readEvent: ({ rawBody, headers }) => {
      const event = readPayload<E>(rawBody, { id: textOf(headers.get(headerOf('id'))) });
      return { id: event.id, type: event.type, ...timeOf(event), event };
    },
    answerWithinMs,
    retries,
    // The specification recommends to disable an endpoint that fails for long, and senders do so.
    cutsOff: true,
    maxBodyBytes,
    testing: testingWith(headerOf),
  });
}

const [SECOND_MS, MINUTE_MS, HOUR_MS] = [1_000, 60_000, 3_600_000];

/** The section "Operational considerations": ten attempts in all. */
const EXAMPLE_RETRIES: Retries = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
];

/** Decodes a secret as the package `standardwebhooks` does: padding is optional, a digit too much is cut. */
function decodeSecret(secret: Key): Uint8Array {
  if (typeof secret !== 'string') return secret;
  const text = secret.replace(/^whsec_/, '');
  const digits = text.replace(/={1,2}$/, '');
  const whole = digits.length % 4 === 1 ? digits.slice(0, -1) : digits;
  if (text.length >= 4 && /^[a-z0-9+/]+$/i.test(whole) && !digits.endsWith('='))
    return Buffer.from(whole, 'base64');
  throw new ConfigurationError(
    'a signing key of Standard Webhooks must be base64, with or without "whsec_" before it: ' +
      'give a secret of another form as bytes',
  );
}

/** The time of the event, which is not that of the signature: each attempt is signed anew. */
function timeOf(event: IdentifiedEvent & { readonly timestamp?: unknown }) {
  const createdAt = textOf(event.timestamp);
  const createdAtMs = createdAt === undefined ? undefined : parseTimeInParts(createdAt);
  return createdAtMs === undefined ? {} : { createdAtMs, createdAt };
}

function testingWith(headerOf: (part: string) => string): ProviderTesting {
  return {
    createEvent: ({ id, type, createdAtMs, data = { id: 'sample' } }) => {
      return { id, type, timestamp: new Date(createdAtMs).toISOString(), data };
    },
    sign: ({ rawBody, key, signedAtMs }) => {
      const id = idIn(rawBody);
      const time = Math.floor(signedAtMs / SECOND_MS);
      const hex = sign(Buffer.concat([Buffer.from(`${id}.${time}.`), rawBody]), decodeSecret(key));
      return {
        [headerOf('id')]: id,
        [headerOf('timestamp')]: String(time),
        [headerOf('signature')]: `v1,${Buffer.from(hex, 'hex').toString('base64')}`,
      };
    },
  };
}

/** The id that `createEvent` wrote; for any other body, one that is the same for the same body. */
function idIn(rawBody: Uint8Array): string {
  try {
    const id = textOf(propertyOf(parseJson(rawBody), 'id'));
    if (id !== undefined) return id;
  } catch {}
  return `msg_${createHash('sha256').update(rawBody).digest('hex')}`;
}
