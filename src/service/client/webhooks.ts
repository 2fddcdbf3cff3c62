import type { KnownEvent } from '../../providers/banking-service/event.ts';
import type { TypedEvent } from '../../receiver/events/event-types.ts';
import type { WebhookRequest, WebhookUpdate } from '../shapes/webhooks.ts';
import {
  type EnsuredWebhook,
  type EnsureOptions,
  ensureWebhook,
  type WantedWebhook,
} from './ensure-webhook.ts';
import type { CallOptions } from './options.ts';
import { type RotatedWebhook, type RotateOptions, rotateSigningKey } from './rotate-signing-key.ts';
import type { Service } from './service.ts';
import type { CreatedWebhook, Webhook } from './webhook-answers.ts';
import {
  createWebhookRequests,
  type PageRequest,
  type WebhookPage,
  type WebhookSettings,
} from './webhook-requests.ts';

/**
 * The webhooks to which the service sends events; needs `administrator`, the credentials of an administrator.
 */
export interface Webhooks<E extends TypedEvent = KnownEvent> {
  /**
   * Creates an enabled webhook, with the key that signs its events: `secret_signing_key`, which is shown only
   * once. The request is never repeated, and a failure may leave a webhook behind. If another member of the
   * answer cannot be read, its value is taken from the request. If the answer lacks an id, this rejects, and
   * {@link ServiceError.signingKey} gives the key.
   *
   * @example
   * ```ts
   * const { id, secret_signing_key } = await client.webhooks.create({
   *   url: 'https://example.com/webhooks',
   *   enabled_events: ['transfer.succeeded', 'transfer.failed'],
   *   authentication: { type: 'BASIC', basic: { username: 'posthorn', password } },
   * });
   * ```
   */
  create(request: WebhookRequest<E>, options?: CallOptions): Promise<CreatedWebhook>;
  /** Reads one page. */
  list(page?: PageRequest, options?: CallOptions): Promise<WebhookPage>;
  /**
   * Reads all webhooks, in pages of 100. So that it never goes on forever, it ends with a {@link
   * ServiceError} of the code `list_repeated` if a webhook comes twice, or `list_too_long` after `maxItems`.
   *
   * @example
   * ```ts
   * for await (const { id, url, enabled } of client.webhooks.listAll()) console.log(id, url, enabled);
   * ```
   */
  listAll(options?: CallOptions): AsyncIterable<Webhook>;
  /** Reads one webhook. The interface shows only the path of this operation. */
  retrieve(id: string, options?: CallOptions): Promise<Webhook>;
  /** Changes the given members and nothing else; a list of events replaces the whole list. */
  update(id: string, changes: WebhookUpdate<E>, options?: CallOptions): Promise<Webhook>;
  /**
   * Brings a webhook into the wanted form, and says what it changed. The webhook is found by `id`, else by
   * `url`: the only one with that url, or the only enabled one. If there is none, it is created, which gives
   * `signingKey`. If several webhooks could be meant, this rejects with a {@link ServiceError} of the code
   * `webhook_ambiguous`, which names their ids. `force` also revives a webhook that the service has given up
   * while `enabled` stayed true.
   *
   * @example
   * ```ts
   * const { changes, signingKey } = await client.webhooks.ensure({
   *   url: 'https://example.com/webhooks',
   *   enabled_events: ['transfer.*', 'dispute.created'],
   *   enabled: true,
   * });
   * if (signingKey !== undefined) await secrets.store(signingKey);
   * ```
   */
  ensure(wanted: WantedWebhook<E>, options?: EnsureOptions): Promise<EnsuredWebhook>;
  /**
   * Introduces a new signing key: creates a second webhook like the first, disables it at once, awaits
   * `onSigningKey`, enables it, and disables the first. If it breaks off, call it again: with `resume` if
   * `onSigningKey` had resolved, else without. Rejects with the error that `onSigningKey` throws; then
   * nothing has changed, except for a disabled webhook that is left over.
   *
   * @example
   * ```ts
   * const { webhook } = await client.webhooks.rotate('WH1', {
   *   onSigningKey: async (key, { id }) => {
   *     await secrets.store({ id, key });
   *     await receiversAccept(key);
   *   },
   * });
   * ```
   */
  rotate(id: string, rotation: RotateOptions, options?: CallOptions): Promise<RotatedWebhook>;
}

export function createWebhooks(service: Service, settings: WebhookSettings): Webhooks<TypedEvent> {
  const requests = createWebhookRequests(service, settings);
  return {
    ...requests,
    ensure: (wanted, options) => ensureWebhook(requests, wanted, settings.types, options),
    rotate: (id, rotation, options) => rotateSigningKey(requests, id, rotation, options),
  };
}
