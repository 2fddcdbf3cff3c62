import { authorizationOf } from '../shapes/authorization.ts';
import { signatureOf } from './signature.ts';
import type { StoredWebhook } from './state.ts';

/**
 * The headers of a delivery: the signature, the webhook's credentials if it has some, and the time that the
 * sandbox shows (RFC 9110, section 6.6.1: a request may have a date). The signature is that of the signed
 * text, which differs from the body if that was changed afterwards.
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
