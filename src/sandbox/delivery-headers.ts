import { authorizationOf } from '../service/authorization.ts';
import { signatureOf } from './signature.ts';
import type { StoredWebhook } from './state.ts';

/**
 * The headers of a delivery: the signature of what was signed, which is the body unless that was changed
 * afterwards, and the webhook's credentials if it has some.
 */
export function deliveryHeaders(
  body: Uint8Array,
  signed: Uint8Array,
  { authentication, secret_signing_key }: StoredWebhook,
  signatureHeader: string,
): Record<string, string> {
  const authorization = authorizationOf(authentication);
  return {
    'content-type': 'application/json',
    'content-length': String(body.length),
    'user-agent': 'posthorn-sandbox',
    [signatureHeader]: signatureOf(signed, secret_signing_key),
    ...(authorization !== undefined && { authorization }),
  };
}
