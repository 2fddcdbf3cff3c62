import * as z from 'zod';
import type { KnownEvent } from '../../providers/banking-service/event.ts';
import type { FilterOf } from '../../providers/banking-service/event-filter.ts';
import type { Authentication } from '../../receiver/authentication/credentials.ts';
import type { PatternOf, TypedEvent } from '../../receiver/events/event-types.ts';
import { assumed } from './assumptions.ts';
import { listOf } from './list-of.ts';
import { isoTime } from './timestamp.ts';

/**
 * The events that a webhook gets: patterns of `receiver.on`, such as `transfer.*`, or filters of the service,
 * such as those of `receiver.eventFilters()`. A list holds one kind. A pattern is sent as the types that it
 * matches today: only `*`, an empty list, includes later ones. A filter with `any` names types that the
 * service has added since. `E` is the union of the events of the client's `provider`.
 */
export type EnabledEvents<E extends TypedEvent = KnownEvent> =
  | readonly PatternOf<E>[]
  | readonly (FilterOf<E> | AnyEventFilter)[];

/** A filter as the service sends it. It may name types outside the catalog. */
export interface StoredEventFilter {
  /** An entity, for example `transfer`. */
  readonly entity: string;
  /** Its wanted types, for example `succeeded`. An empty list means all of them. */
  readonly types: readonly string[];
}

/** A filter of a request that may name types outside the catalog. */
export interface AnyEventFilter extends StoredEventFilter {
  /** Says that the names are meant as they stand. It is not sent. */
  readonly any: true;
}

/** A request to create a webhook. */
export interface WebhookRequest<E extends TypedEvent = KnownEvent> {
  /** It must be HTTPS, and publicly reachable. */
  readonly url: string;
  /** If it is left out or empty, every event is sent. */
  readonly enabled_events?: EnabledEvents<E> | undefined;
  /** If it is left out, it is taken to be `NONE`. */
  readonly authentication?: Authentication | undefined;
}

/** A request to update a webhook. Members that are left out do not change; a list replaces the whole list. */
export interface WebhookUpdate<E extends TypedEvent = KnownEvent> {
  /** It must be HTTPS, and publicly reachable. */
  readonly url?: string | undefined;
  /** True to send events, false to stop. */
  readonly enabled?: boolean | undefined;
  /** An empty list means every event. */
  readonly enabled_events?: EnabledEvents<E> | undefined;
  /** The credentials that the service presents from now on. */
  readonly authentication?: Authentication | undefined;
}

/** A webhook as the service sends it (interface, "Webhook"). */
export interface Webhook {
  /** The id of the webhook. */
  readonly id: string;
  /** It is a time in UTC, as ISO 8601 writes it, and never changes. */
  readonly created_at: string;
  /** It is a time in UTC, as ISO 8601 writes it. */
  readonly updated_at: string;
  /** The endpoint that receives events. */
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
  readonly _links: { readonly self: { readonly href: string } };
}

/** A page of webhooks. */
export interface WebhookList {
  readonly _embedded: { readonly webhooks: readonly Webhook[] };
  readonly _links: { readonly self: { readonly href: string } };
  readonly page: { readonly limit: number; readonly offset: number; readonly count: number };
}

/** The size of a page (interface, "Limits"). */
export const DEFAULT_LIST_LIMIT = 10;
export const MAX_LIST_LIMIT = 100;

/** The credentials that the service presents (interface, "Authentication"). */
export const authentication: z.ZodType<Authentication> = z
  .discriminatedUnion('type', [
    z.looseObject({ type: z.literal('NONE') }),
    z.looseObject({
      type: z.literal('BASIC'),
      basic: z.looseObject({ username: z.string(), password: z.string() }),
    }),
    z.looseObject({ type: z.literal('BEARER'), bearer: z.looseObject({ token: z.string() }) }),
  ])
  .meta({
    id: 'Authentication',
    description: 'The credentials that the service presents to the endpoint; returned in clear',
    ...assumed('credentials that are empty or cannot be sent'),
  });

/** The schema of a webhook's filter, with any names. */
export const eventFilters: z.ZodType<readonly StoredEventFilter[]> = listOf(
  z.looseObject({ entity: z.string(), types: listOf(z.string()) }),
).meta({
  id: 'EventFilters',
  description: 'An empty array means every event; it is assumed that empty `types` mean all types',
  ...assumed('an entity with empty `types` in an answer, and in the sandbox'),
});

const link = z.looseObject({ self: z.looseObject({ href: z.string() }) });

/** The schema of {@link Webhook}. */
export const webhook: z.ZodType<Webhook> = z
  .looseObject({
    id: z.string(),
    created_at: isoTime.meta({ description: 'Never changes' }),
    updated_at: isoTime.meta({ description: 'Changes on each update' }),
    url: z.string().meta({ description: 'The HTTPS endpoint that receives events' }),
    enabled: z.boolean().meta({
      description: 'Whether events are sent',
      ...assumed(
        'whether `enabled` turns false after the third failed retry',
        '`ensure`: a webhook that was given up while its `enabled` stayed true',
      ),
    }),
    authentication,
    enabled_events: eventFilters,
    secret_signing_key: z
      .string()
      .nullable()
      .meta({ description: 'Returned only by the creation; null in every other answer', readOnly: true }),
    _links: link,
  })
  .meta({ id: 'Webhook' });

/** The schema of {@link WebhookList}. */
export const webhookList: z.ZodType<WebhookList> = z
  .looseObject({
    _embedded: z.looseObject({ webhooks: listOf(webhook) }),
    _links: link,
    page: z.looseObject({
      limit: z.int(),
      offset: z.int(),
      count: z.int().meta(assumed('`page.count`')),
    }),
  })
  .meta({ id: 'WebhookList' });
