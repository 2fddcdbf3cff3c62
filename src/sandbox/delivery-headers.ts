import { authorizationOf } from '../service/authorization.ts';
import { signatureOf } from './signature.ts';
import type { StoredWebhook } from './state.ts';

/** The headers of a delivery: its signature, and the webhook's credentials if it has some. */
export function deliveryHeaders(
  body: Uint8Array,
  { authentication, secret_signing_key }: StoredWebhook,
  signatureHeader: string,
): Record<string, string> {
  const authorization = authorizationOf(authentication);
  return {
    'content-type': 'application/json',
    'content-length': String(body.length),
    'user-agent': 'posthorn-sandbox',
    [signatureHeader]: signatureOf(body, secret_signing_key),
    ...(authorization !== undefined && { authorization }),
  };
}
