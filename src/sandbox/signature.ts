import { createHmac } from 'node:crypto';

/**
 * The value of the signature header: HMAC-SHA256 over the bytes of the body, in lower-case hex. It shares
 * nothing with the receiver's verifier on purpose, so that the two cannot agree on a mistake.
 */
export function signatureOf(body: Uint8Array, signingKey: string): string {
  return createHmac('sha256', signingKey).update(body).digest('hex');
}
