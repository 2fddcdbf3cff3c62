import type { Authentication } from '../authentication/credentials.ts';
import { checkOptions } from '../check-options.ts';
import { ConfigurationError } from '../errors.ts';
import { show } from '../foreign-values.ts';
import type { EnabledEvents, StoredEventFilter } from '../service/webhooks.ts';
import { readEnabledEvents } from './enabled-events.ts';
import { findWebhook } from './find-webhook.ts';
import type { CallOptions } from './options.ts';
import { areSameEvents, isSameAuthentication, isSameUrl } from './same-webhook.ts';
import { ServiceError } from './service-error.ts';
import { createDisabled } from './set-enabled.ts';
import type { Webhook } from './webhook-answers.ts';
import type { WebhookRequests } from './webhook-requests.ts';

/**
 * How a webhook should be. What is left out stays as it is; a webhook that has to be created gets every
 * event, no credentials, and is enabled.
 */
export interface WantedWebhook {
  /** Which webhook it is. Where it is left out, the one with this url. */
  readonly id?: string | undefined;
  /** HTTPS, publicly reachable. */
  readonly url: string;
  /** In any order. An empty list: every event. */
  readonly enabled_events?: EnabledEvents | undefined;
  /** The credentials that the service shall present. */
  readonly authentication?: Authentication | undefined;
  /** True if events shall be sent. */
  readonly enabled?: boolean | undefined;
}

/** The changes of `ensure`: `created` alone, or the changed members of an existing webhook. */
export type WebhookChange = 'created' | 'url' | 'enabled_events' | 'authentication' | 'enabled';

/** Options of `ensure`. */
export interface EnsureOptions extends CallOptions {
  /**
   * Sends the wanted `enabled` even where the webhook already has it; false by default. The service stops
   * sending after the third failed retry, and whether `enabled` then turns false is not documented.
   */
  readonly force?: boolean | undefined;
}

/** A webhook as it was wanted. */
export interface EnsuredWebhook {
  /** As it is now. */
  readonly webhook: Webhook;
  /** The changes that were sent; empty if the webhook was right already. */
  readonly changes: readonly WebhookChange[];
  /** Of a webhook that was created, and never again: store it at once, and safely. */
  readonly signingKey?: string;
}

/** A wanted webhook whose patterns have become filters. */
type FilteredWebhook = Omit<WantedWebhook, 'enabled_events'> & {
  readonly enabled_events: readonly StoredEventFilter[] | undefined;
};

/** See `Webhooks.ensure`. */
export async function ensureWebhook(
  requests: WebhookRequests,
  wanted: WantedWebhook,
  ensureOptions: EnsureOptions = {},
): Promise<EnsuredWebhook> {
  checkOptions(ensureOptions, ['force', 'signal'], 'the last argument of webhooks.ensure');
  checkOptions(wanted, ['id', 'url', 'enabled_events', 'authentication', 'enabled'], 'webhooks.ensure');
  const { force = false, ...options } = ensureOptions;
  const { id, url, enabled } = wanted;
  const filtered = {
    ...wanted,
    enabled_events: readEnabledEvents(wanted.enabled_events, 'webhooks.ensure'),
  };
  if (typeof force !== 'boolean') {
    throw new ConfigurationError(`force of webhooks.ensure must be true or false, got ${show(force)}`);
  }
  if (force && enabled === undefined) {
    throw new ConfigurationError(
      'force of webhooks.ensure needs enabled: there is nothing to force without it',
    );
  }
  const found =
    id === undefined ? await findByUrl(requests, url, options) : await findWebhook(requests, id, options);
  if (found === undefined) return create(requests, filtered, options);
  const update = { ...difference(found, filtered), ...(force && { enabled }) };
  const changes = order.filter((name) => name in update);
  const webhook = changes.length === 0 ? found : await requests.update(found.id, update, options);
  return { webhook, changes };
}

/** How many webhooks an error names. */
const MOST_NAMES = 20;

/**
 * Past rotations leave disabled webhooks with the same url behind, since
 * none can be deleted; they are passed over.
 */
async function findByUrl(
  requests: WebhookRequests,
  url: string,
  options: CallOptions | undefined,
): Promise<Webhook | undefined> {
  let chosen: Webhook | undefined;
  const counts = { enabled: 0, disabled: 0 };
  // The list may hold some 100,000 of them, so not all are kept.
  const names: string[] = [];
  for await (const webhook of requests.listAll(options)) {
    if (!isSameUrl(webhook.url, url)) continue;
    const { id, enabled } = webhook;
    counts[enabled ? 'enabled' : 'disabled'] += 1;
    if (chosen === undefined || (enabled && !chosen.enabled)) chosen = webhook;
    if (names.length < MOST_NAMES) names.push(`${show(id)}${enabled ? '' : ' (disabled)'}`);
  }
  if ((counts.enabled || counts.disabled) <= 1) return chosen;
  const others = counts.enabled + counts.disabled - names.length;
  throw new ServiceError(
    'webhook_ambiguous',
    `several webhooks have this url: ${names.join(', ')}${others > 0 ? ` and ${others} more` : ''}. Give the id of ` +
      'the one that is meant, or disable all the others',
  );
}

async function create(
  requests: WebhookRequests,
  { url, enabled_events, authentication, enabled = true }: FilteredWebhook,
  options: CallOptions | undefined,
): Promise<EnsuredWebhook> {
  const request = { url, enabled_events, authentication };
  if (!enabled) return { ...(await createDisabled(requests, request, options)), changes: ['created'] };
  const webhook = await requests.create(request, options);
  return { webhook, changes: ['created'], signingKey: webhook.secret_signing_key };
}

const order = ['url', 'enabled_events', 'authentication', 'enabled'] as const;

/** The members that are wanted in another way than they are. */
function difference(found: Webhook, wanted: FilteredWebhook): Parameters<WebhookRequests['update']>[1] {
  const { url, enabled_events, authentication, enabled } = wanted;
  return {
    ...(!isSameUrl(url, found.url) && { url }),
    ...(enabled_events && !areSameEvents(enabled_events, found.enabled_events) && { enabled_events }),
    ...(authentication && !isSameAuthentication(authentication, found.authentication) && { authentication }),
    ...(enabled !== undefined && enabled !== found.enabled && { enabled }),
  };
}
