import type { Authentication } from '../credentials.ts';
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

function authorizationOf(authentication: Authentication): string | undefined {
  switch (authentication.type) {
    case 'NONE':
      return undefined;
    case 'BASIC': {
      const { username, password } = authentication.basic;
      return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    }
    case 'BEARER':
      return `Bearer ${authentication.bearer.token}`;
  }
}
