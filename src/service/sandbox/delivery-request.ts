import type { WebhookEvent } from '../../providers/banking-service/event.ts';
import { authorizationOf } from '../shapes/authorization.ts';
import type { DeliveryAttempt } from './attempt.ts';
import { signatureOf } from './signature.ts';
import type { StoredWebhook } from './state.ts';

/**
 * The request that delivers an event: its signature, the webhook's credentials if it has some, and the time
 * that the sandbox shows (RFC 9110, section 6.6.1: a request may have a date). The body can be changed after
 * it was signed.
 */
export function deliveryRequest(
  event: WebhookEvent,
  isChanged: boolean,
  { url, authentication, secret_signing_key }: StoredWebhook,
  signatureHeader: string,
  now: number,
): DeliveryAttempt['request'] {
  const signed = serialize(event);
  const body = isChanged ? serialize({ ...event, data: { ...event.data, changed: 'on its way' } }) : signed;
  const authorization = authorizationOf(authentication);
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'posthorn-sandbox',
    date: new Date(now).toUTCString(),
    [signatureHeader]: signatureOf(signed, secret_signing_key),
    ...(authorization !== undefined && { authorization }),
  };
  return { url, headers, body };
}

/** Writes the members in the order of the interface, "Webhook event". */
export function serialize({ type, id, created_at, data }: WebhookEvent): string {
  return JSON.stringify({ type, id, created_at, data });
}
