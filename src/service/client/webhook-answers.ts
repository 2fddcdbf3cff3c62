import * as z from 'zod';
import type { Authentication } from '../../receiver/authentication/credentials.ts';
import { listOf } from '../shapes/list-of.ts';
import {
  authentication,
  eventFilters,
  type StoredEventFilter,
  type WebhookList,
} from '../shapes/webhooks.ts';

/**
 * A webhook as the service sends it (interface, "Webhook"). A member that the client does not need may be
 * missing from the answer, and is then undefined.
 */
export interface Webhook {
  /** The id that the service has given it. */
  readonly id: string;
  /** It is a time in UTC, as ISO 8601 writes it, and never changes. */
  readonly created_at?: string | undefined;
  /** It is a time in UTC, as ISO 8601 writes it. */
  readonly updated_at?: string | undefined;
  /** The endpoint that receives the events. */
  readonly url: string;
  /** True if the service sends events to it. */
  readonly enabled: boolean;
  /** The credentials, which the service sends in clear text: keep them out of logs. */
  readonly authentication: Authentication;
  /** An empty list means every event. */
  readonly enabled_events: readonly StoredEventFilter[];
  /** It is present only in the answer to a creation, and null afterwards. */
  readonly secret_signing_key: string | null;
  /** The absolute address of the webhook. */
  readonly _links?: { readonly self: { readonly href: string } } | undefined;
}

/**
 * A new webhook with the key that signs its events. The key is shown only once: store it at once, and safely.
 */
export type CreatedWebhook = Webhook & { readonly secret_signing_key: string };

/** The request of a creation. */
interface CreationRequest {
  readonly url: string;
  readonly enabled_events?: readonly StoredEventFilter[] | undefined;
  readonly authentication?: Authentication | undefined;
}

const time = z.string().optional().catch(undefined);

/** The client does not depend on these members, so no answer is refused because of them. */
const informative = {
  created_at: time,
  updated_at: time,
  _links: z
    .looseObject({ self: z.looseObject({ href: z.string() }) })
    .optional()
    .catch(undefined),
};

/** Limited, because the ids of a whole list are kept in memory, and an id is a part of a path. */
const MAX_ID_LENGTH = 1_000;

/** Reads a webhook: only the members that the client compares must be as the interface shows them. */
export const webhookAnswer: z.ZodType<Webhook> = z.looseObject({
  id: z.string().max(MAX_ID_LENGTH),
  url: z.string(),
  enabled: z.boolean(),
  authentication,
  enabled_events: eventFilters,
  secret_signing_key: z.string().nullable().catch(null),
  ...informative,
});

/** A page of webhooks, as far as the client reads it. */
interface WebhookListAnswer {
  readonly _embedded: { readonly webhooks: readonly Webhook[] };
  readonly page: WebhookList['page'];
}

/** Reads a page of webhooks. */
export const webhookListAnswer: z.ZodType<WebhookListAnswer> = z.looseObject({
  _embedded: z.looseObject({ webhooks: listOf(webhookAnswer) }),
  page: z.looseObject({ limit: z.int(), offset: z.int(), count: z.int() }),
});

/**
 * Reads the answer to a creation. Only the id and the key must be there, because the key is never shown
 * again. Any other member that cannot be read is taken from the request.
 */
export function creationAnswer(request: CreationRequest): z.ZodType<CreatedWebhook> {
  return z.looseObject({
    id: z.string().min(1),
    secret_signing_key: z.string().min(1),
    url: z.string().catch(request.url),
    enabled: z.boolean().catch(true),
    authentication: authentication.catch(request.authentication ?? { type: 'NONE' }),
    enabled_events: eventFilters.catch([...(request.enabled_events ?? [])]),
    ...informative,
  });
}
