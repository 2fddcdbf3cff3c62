import { messageOf } from '../../receiver/values/foreign-values.ts';
import type { CallOptions } from './options.ts';
import { ServiceError } from './service-error.ts';
import type { CreatedWebhook, Webhook } from './webhook-answers.ts';
import type { WebhookRequests } from './webhook-requests.ts';

/** Enables or disables a webhook, and checks that the service confirms it. */
export async function setEnabled(
  requests: WebhookRequests,
  id: string,
  enabled: boolean,
  options?: CallOptions,
  signingKey?: string,
): Promise<Webhook> {
  const webhook = await requests.update(id, { enabled }, options, signingKey);
  if (webhook.enabled === enabled) return webhook;
  throw new ServiceError(
    'answer_invalid',
    `the service answered the update of webhook "${id}" to enabled: ${enabled} with enabled: ` +
      `${webhook.enabled}`,
  );
}

/** A webhook that does not send yet, and the key that will sign its events. */
export interface DisabledWebhook {
  readonly webhook: Webhook;
  readonly signingKey: string;
}

/** Creates a webhook and disables it at once, because the service only creates enabled ones. */
export async function createDisabled(
  requests: WebhookRequests,
  request: Parameters<WebhookRequests['create']>[0],
  options?: CallOptions,
): Promise<DisabledWebhook> {
  const created: CreatedWebhook = await requests.create(request, options);
  try {
    // Without the caller's signal: the new webhook must not go on sending because the caller has aborted.
    const webhook = await setEnabled(requests, created.id, false, undefined, created.secret_signing_key);
    return { webhook, signingKey: created.secret_signing_key };
  } catch (cause) {
    throw new ServiceError(
      'webhook_left_enabled',
      `webhook "${created.id}" was created and could not be disabled: ${messageOf(cause)}. It may be ` +
        'sending events: disable it, or store its key',
      { signingKey: created.secret_signing_key, cause },
    );
  }
}
