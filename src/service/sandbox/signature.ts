import { createHmac } from 'node:crypto';

/**
 * The value of the signature header: HMAC-SHA256 over the bytes of the body, in lower-case hex. On purpose it
 * does not share code with the receiver's verifier, so that the two cannot agree on a mistake.
 */
export function signatureOf(body: string, signingKey: string): string {
  return createHmac('sha256', signingKey).update(body).digest('hex');
}
