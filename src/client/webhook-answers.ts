import * as z from 'zod';
import type { Authentication } from '../authentication/credentials.ts';
import { listOf } from '../service/list-of.ts';
import {
  authentication,
  eventFilters,
  type StoredEventFilter,
  type WebhookList,
} from '../service/webhooks.ts';

/**
 * A webhook as the service sends it (interface, "Webhook"). What nothing depends on may be missing from its
 * answer, and is undefined then.
 */
export interface Webhook {
  /** The id that the service has given it. */
  readonly id: string;
  /** ISO 8601, UTC; never changes. */
  readonly created_at?: string | undefined;
  /** ISO 8601, UTC. */
  readonly updated_at?: string | undefined;
  /** The endpoint that receives the events. */
  readonly url: string;
  /** True if events are sent. */
  readonly enabled: boolean;
  /** The service sends credentials in clear text: keep them out of logs. */
  readonly authentication: Authentication;
  /** An empty list means every event. */
  readonly enabled_events: readonly StoredEventFilter[];
  /** Present only in the answer to a creation, afterwards null. */
  readonly secret_signing_key: string | null;
  /** The absolute address of the webhook. */
  readonly _links?: { readonly self: { readonly href: string } } | undefined;
}

/**
 * A webhook just created, with the key that signs its events. It is shown
 * this once: store it at once, and safely.
 */
export type CreatedWebhook = Webhook & { readonly secret_signing_key: string };

/** What was asked for. */
interface CreationRequest {
  readonly url: string;
  readonly enabled_events?: readonly StoredEventFilter[] | undefined;
  readonly authentication?: Authentication | undefined;
}

const time = z.string().optional().catch(undefined);

/** Nothing that the client does depends on them, so no answer is refused for them. */
const informative = {
  created_at: time,
  updated_at: time,
  _links: z
    .looseObject({ self: z.looseObject({ href: z.string() }) })
    .optional()
    .catch(undefined),
};

/** The ids of a whole list are remembered, and an id is a part of a path. */
const MAX_ID_LENGTH = 1_000;

/** Reads a webhook: only what the client compares must be as the interface shows it. */
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
 * again: for any other member that cannot be read, what was asked for stands in.
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
