import { authorizationOf } from '../service/authorization.ts';
import { signatureOf } from './signature.ts';
import type { StoredWebhook } from './state.ts';

/**
 * The headers of a delivery: the signature of what was signed, which is the body unless that was changed
 * afterwards, the webhook's credentials if it has some, and the time of the sandbox, so that a receiver that
 * is being developed can go by its clock (RFC 9110, section 6.6.1: a request may have a date).
 */
export function deliveryHeaders(
  body: Uint8Array,
  signed: Uint8Array,
  { authentication, secret_signing_key }: StoredWebhook,
  signatureHeader: string,
  now: number,
): Record<string, string> {
  const authorization = authorizationOf(authentication);
  return {
    'content-type': 'application/json',
    'content-length': String(body.length),
    'user-agent': 'posthorn-sandbox',
    date: new Date(now).toUTCString(),
    [signatureHeader]: signatureOf(signed, secret_signing_key),
    ...(authorization !== undefined && { authorization }),
  };
}
