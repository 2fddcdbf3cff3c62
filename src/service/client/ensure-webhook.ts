import type { KnownEvent } from '../../providers/banking-service/event.ts';
import type { Authentication } from '../../receiver/authentication/credentials.ts';
import { checkOptions } from '../../receiver/checks/check-options.ts';
import { ConfigurationError } from '../../receiver/errors.ts';
import type { TypedEvent } from '../../receiver/events/event-types.ts';
import type { TypeList } from '../../receiver/events/type-list.ts';
import { show } from '../../receiver/values/foreign-values.ts';
import type { EnabledEvents, StoredEventFilter } from '../shapes/webhooks.ts';
import { readEnabledEvents } from './enabled-events.ts';
import { findWebhook } from './find-webhook.ts';
import type { CallOptions } from './options.ts';
import { areSameEvents, isSameAuthentication, isSameUrl } from './same-webhook.ts';
import { ServiceError } from './service-error.ts';
import { createDisabled } from './set-enabled.ts';
import type { Webhook } from './webhook-answers.ts';
import type { WebhookRequests } from './webhook-requests.ts';

/**
 * The wanted form of a webhook. A member that is left out stays as it is. A new webhook by default gets every
 * event, has no credentials, and is enabled.
 */
export interface WantedWebhook<E extends TypedEvent = KnownEvent> {
  /** The id of the webhook; if it is left out, the webhook is found by its `url`. */
  readonly id?: string | undefined;
  /** A public HTTPS URL. */
  readonly url: string;
  /** The order does not matter; an empty list means every event. */
  readonly enabled_events?: EnabledEvents<E> | undefined;
  /** The credentials that the service presents. */
  readonly authentication?: Authentication | undefined;
  /** True to send events, false to stop. */
  readonly enabled?: boolean | undefined;
}

/** The changes of `ensure`: `created` alone, or the changed members of an existing webhook. */
export type WebhookChange = 'created' | 'url' | 'enabled_events' | 'authentication' | 'enabled';

/** Options of `ensure`. */
export interface EnsureOptions extends CallOptions {
  /**
   * Sends the wanted `enabled` even if the webhook already has it; false by default. The service stops
   * sending after the third failed retry, and it is not documented whether `enabled` then turns false.
   */
  readonly force?: boolean | undefined;
}

/** A webhook in the wanted form. */
export interface EnsuredWebhook {
  /** The webhook as it is now. */
  readonly webhook: Webhook;
  /** The changes that were sent; empty if the webhook was right already. */
  readonly changes: readonly WebhookChange[];
  /** The key of a webhook that was created. It is never shown again: store it at once, and safely. */
  readonly signingKey?: string;
}

/** A wanted webhook whose patterns have become filters. */
type WantedWithFilters = Omit<WantedWebhook, 'enabled_events'> & {
  readonly enabled_events: readonly StoredEventFilter[] | undefined;
};

/** See `Webhooks.ensure`. */
export async function ensureWebhook(
  requests: WebhookRequests,
  wanted: WantedWebhook<TypedEvent>,
  types: TypeList,
  ensureOptions: EnsureOptions = {},
): Promise<EnsuredWebhook> {
  checkOptions(ensureOptions, ['force', 'signal'], 'the last argument of webhooks.ensure');
  checkOptions(wanted, ['id', 'url', 'enabled_events', 'authentication', 'enabled'], 'webhooks.ensure');
  const { force = false, ...options } = ensureOptions;
  const { id, url, enabled } = wanted;
  const withFilters = {
    ...wanted,
    enabled_events: readEnabledEvents(wanted.enabled_events, 'webhooks.ensure', types),
  };
  if (typeof force !== 'boolean') {
    throw new ConfigurationError(`force of webhooks.ensure must be true or false, got ${show(force)}`);
  }
  if (force && enabled === undefined) {
    throw new ConfigurationError(
      'force of webhooks.ensure needs enabled: without it there is nothing to force',
    );
  }
  const found =
    id === undefined ? await findByUrl(requests, url, options) : await findWebhook(requests, id, options);
  if (found === undefined) return create(requests, withFilters, options);
  const update = { ...difference(found, withFilters), ...(force && { enabled }) };
  const changes = order.filter((name) => name in update);
  const webhook = changes.length === 0 ? found : await requests.update(found.id, update, options);
  return { webhook, changes };
}

/** The most webhooks that an error names. */
const MOST_NAMES = 20;

/**
 * Finds the one enabled webhook with this url; without one, the one disabled webhook. Past rotations leave
 * disabled webhooks with the same url behind, because a webhook cannot be deleted.
 */
async function findByUrl(
  requests: WebhookRequests,
  url: string,
  options: CallOptions | undefined,
): Promise<Webhook | undefined> {
  let firstEnabled: Webhook | undefined;
  let firstDisabled: Webhook | undefined;
  let enabledCount = 0;
  let disabledCount = 0;
  // The list may hold some 100,000 webhooks, so only some names are kept.
  const names: string[] = [];
  for await (const webhook of requests.listAll(options)) {
    if (!isSameUrl(webhook.url, url)) continue;
    if (webhook.enabled) {
      firstEnabled ??= webhook;
      enabledCount += 1;
    } else {
      firstDisabled ??= webhook;
      disabledCount += 1;
    }
    if (names.length < MOST_NAMES) names.push(`${show(webhook.id)}${webhook.enabled ? '' : ' (disabled)'}`);
  }
  if (enabledCount === 1) return firstEnabled;
  if (enabledCount === 0 && disabledCount <= 1) return firstDisabled;
  throw ambiguous(names, enabledCount + disabledCount);
}

function ambiguous(names: readonly string[], count: number): ServiceError {
  const others = count > names.length ? ` and ${count - names.length} more` : '';
  return new ServiceError(
    'webhook_ambiguous',
    `several webhooks have this url: ${names.join(', ')}${others}. Give the id of ` +
      'the one that is meant, or disable all the others',
  );
}

async function create(
  requests: WebhookRequests,
  { url, enabled_events, authentication, enabled = true }: WantedWithFilters,
  options: CallOptions | undefined,
): Promise<EnsuredWebhook> {
  const request = { url, enabled_events, authentication };
  if (!enabled) return { ...(await createDisabled(requests, request, options)), changes: ['created'] };
  const webhook = await requests.create(request, options);
  return { webhook, changes: ['created'], signingKey: webhook.secret_signing_key };
}

const order = ['url', 'enabled_events', 'authentication', 'enabled'] as const;

/** The wanted members that differ from the present ones. */
function difference(found: Webhook, wanted: WantedWithFilters): Parameters<WebhookRequests['update']>[1] {
  const { url, enabled_events, authentication, enabled } = wanted;
  return {
    ...(!isSameUrl(url, found.url) && { url }),
    ...(enabled_events && !areSameEvents(enabled_events, found.enabled_events) && { enabled_events }),
    ...(authentication && !isSameAuthentication(authentication, found.authentication) && { authentication }),
    ...(enabled !== undefined && enabled !== found.enabled && { enabled }),
  };
}
