import type { WebhookRequest, WebhookUpdate } from '../service/webhooks.ts';
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
import { createWebhookRequests, type PageRequest, type WebhookPage } from './webhook-requests.ts';

/**
 * The webhooks to which the service sends events; needs `administrator`, the credentials of an administrator.
 */
export interface Webhooks {
  /**
   * Creates a webhook, enabled, with the key that signs its events: `secret_signing_key`, shown this once. It
   * is sent once and never again: a failure may leave a webhook behind. Where another member of the answer
   * cannot be read, the one that was asked for stands in; an answer without an id makes this reject, and
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
  create(request: WebhookRequest, options?: CallOptions): Promise<CreatedWebhook>;
  /** Reads one page. */
  list(page?: PageRequest, options?: CallOptions): Promise<WebhookPage>;
  /**
   * Reads all of them, in pages of 100. Ends with a {@link ServiceError} of the code `list_repeated` where a
   * webhook comes twice, and of the code `list_too_long` after `maxItems`, rather than go on for ever.
   *
   * @example
   * ```ts
   * for await (const { id, url, enabled } of client.webhooks.listAll()) console.log(id, url, enabled);
   * ```
   */
  listAll(options?: CallOptions): AsyncIterable<Webhook>;
  /** Reads one webhook, by an operation of which the interface shows the path only. */
  retrieve(id: string, options?: CallOptions): Promise<Webhook>;
  /** Changes what is given and nothing else; a list of events replaces the whole list. */
  update(id: string, changes: WebhookUpdate, options?: CallOptions): Promise<Webhook>;
  /**
   * Makes the service match a wanted webhook, and says what it changed. The webhook is found by `id`, else by
   * `url`: the only one with that url, or the only enabled one. Where there is none it is created, which
   * gives `signingKey`. Rejects with a {@link ServiceError} of the code `webhook_ambiguous`, which names the
   * ids, where several could be meant. `force` also wakes a webhook that the service has given up without
   * saying so in `enabled`.
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
  ensure(wanted: WantedWebhook, options?: EnsureOptions): Promise<EnsuredWebhook>;
  /**
   * Brings in a new signing key: creates a second webhook like the first, disables it at once, awaits
   * `onSigningKey`, enables it, and disables the first. Where it breaks off, call it again: with `resume` if
   * `onSigningKey` had resolved, else without. Rejects with what `onSigningKey` throws, and then nothing has
   * changed but for a disabled webhook that is left over.
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

export function createWebhooks(service: Service, maxItems: number): Webhooks {
  const requests = createWebhookRequests(service, maxItems);
  return {
    ...requests,
    ensure: (wanted, options) => ensureWebhook(requests, wanted, options),
    rotate: (id, rotation, options) => rotateSigningKey(requests, id, rotation, options),
  };
}
