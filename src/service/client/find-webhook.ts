import { isInstance } from '../../receiver/values/foreign-values.ts';
import type { CallOptions } from './options.ts';
import { ServiceError } from './service-error.ts';
import type { Webhook } from './webhook-answers.ts';
import type { WebhookRequests } from './webhook-requests.ts';

/**
 * Reads one webhook. The interface shows only the path of that operation, so if the assumed request fails,
 * the webhook is looked up in the list. Rejects with the first error if it is not there either.
 */
export async function findWebhook(
  requests: Pick<WebhookRequests, 'retrieve' | 'listAll'>,
  id: string,
  options?: CallOptions,
): Promise<Webhook> {
  try {
    return await requests.retrieve(id, options);
  } catch (error) {
    if (!mayBeListed(error)) throw error;
    for await (const webhook of requests.listAll(options)) if (webhook.id === id) return webhook;
    throw error;
  }
}

/**
 * Returns true if the list may still have the webhook: the service answered, but not with the error that the
 * interface shows for an unknown id, or with one that the list would get too.
 */
function mayBeListed(error: unknown): boolean {
  if (!isInstance(error, ServiceError)) return false;
  const { code, status = 0, message } = error;
  if (code === 'answer_invalid') return true;
  if (code !== 'service_refused' || (status === 404 && message === 'Webhook not found')) return false;
  return (status < 500 && status !== 401 && status !== 429) || status === 501;
}
