import type { Authentication } from '../authentication/credentials.ts';
import { checkOptions } from '../check-options.ts';
import type { EventFilter, Webhook } from '../service/webhooks.ts';
import type { CallOptions } from './options.ts';
import { areSameEvents, isSameAuthentication, isSameUrl } from './same-webhook.ts';
import { ServiceError } from './service-error.ts';
import { createDisabled } from './set-enabled.ts';
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
  readonly enabled_events?: readonly EventFilter[] | undefined;
  /** The credentials that the service shall present. */
  readonly authentication?: Authentication | undefined;
  /** True if events shall be sent. */
  readonly enabled?: boolean | undefined;
}

/** The changes of `ensure`: `created` alone, or the changed members of an existing webhook. */
export type WebhookChange = 'created' | 'url' | 'enabled_events' | 'authentication' | 'enabled';

/** A webhook as it was wanted. */
export interface EnsuredWebhook {
  /** As it is now. */
  readonly webhook: Webhook;
  /** Empty where nothing had to be changed. */
  readonly changes: readonly WebhookChange[];
  /** Of a webhook that was created, and never again: store it at once, and safely. */
  readonly signingKey?: string;
}

/** See `Webhooks.ensure`. */
export async function ensureWebhook(
  requests: WebhookRequests,
  wanted: WantedWebhook,
  options?: CallOptions,
): Promise<EnsuredWebhook> {
  checkOptions(wanted, ['id', 'url', 'enabled_events', 'authentication', 'enabled'], 'webhooks.ensure');
  const { id, url } = wanted;
  const found =
    id === undefined ? await findByUrl(requests, url, options) : await requests.retrieve(id, options);
  return found === undefined ? create(requests, wanted, options) : adapt(requests, found, wanted, options);
}

/**
 * Past rotations leave disabled webhooks with the same url behind, since
 * none can be deleted; they are passed over.
 */
async function findByUrl(
  requests: WebhookRequests,
  url: string,
  options: CallOptions | undefined,
): Promise<Webhook | undefined> {
  const found: Webhook[] = [];
  for await (const webhook of requests.listAll(options)) if (isSameUrl(webhook.url, url)) found.push(webhook);
  const enabled = found.filter((webhook) => webhook.enabled);
  const [first, ...others] = enabled.length === 0 ? found : enabled;
  if (others.length === 0) return first;
  const ids = found.map((webhook) => `"${webhook.id}"${webhook.enabled ? '' : ' (disabled)'}`).join(', ');
  throw new ServiceError(
    'webhook_ambiguous',
    `several webhooks have this url: ${ids}. Give the id of the one that is meant, or disable all the others`,
  );
}

async function create(
  requests: WebhookRequests,
  { url, enabled_events, authentication, enabled = true }: WantedWebhook,
  options: CallOptions | undefined,
): Promise<EnsuredWebhook> {
  const request = { url, enabled_events, authentication };
  if (!enabled) return { ...(await createDisabled(requests, request, options)), changes: ['created'] };
  const webhook = await requests.create(request, options);
  return { webhook, changes: ['created'], signingKey: webhook.secret_signing_key };
}

async function adapt(
  requests: WebhookRequests,
  found: Webhook,
  wanted: WantedWebhook,
  options: CallOptions | undefined,
): Promise<EnsuredWebhook> {
  const { enabled_events, authentication, enabled = found.enabled } = wanted;
  const url = isSameUrl(wanted.url, found.url) ? undefined : wanted.url;
  const update = {
    ...(url !== undefined && { url }),
    ...(enabled_events && !areSameEvents(enabled_events, found.enabled_events) && { enabled_events }),
    ...(authentication && !isSameAuthentication(authentication, found.authentication) && { authentication }),
    ...(enabled !== found.enabled && { enabled }),
  };
  const order = ['url', 'enabled_events', 'authentication', 'enabled'] as const;
  const changes = order.filter((name) => name in update);
  const webhook = changes.length === 0 ? found : await requests.update(found.id, update, options);
  return { webhook, changes };
}
