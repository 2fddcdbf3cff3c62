import type { Authentication } from '../receiver/authentication/credentials.ts';
import type { Key } from '../receiver/authentication/key.ts';
import { sign } from '../receiver/authentication/signature.ts';
import { authorizationOf } from '../service/shapes/authorization.ts';

/** Options of {@link signedHeaders}. */
export interface SignedHeadersOptions {
  /** The signing key of the webhook. */
  readonly key: Key;
  /** `NONE` by default. */
  readonly authentication?: Authentication | undefined;
  /** `x-service-signature` by default. */
  readonly signatureHeader?: string | undefined;
}

/**
 * The headers of a delivery of `body`: its signature, its credentials and its content type.
 *
 * @throws ConfigurationError for a missing or empty key.
 */
export function signedHeaders(
  body: string | Uint8Array,
  { key, authentication = { type: 'NONE' }, signatureHeader = 'x-service-signature' }: SignedHeadersOptions,
): Record<string, string> {
  const authorization = authorizationOf(authentication);
  return {
    'content-type': 'application/json',
    [signatureHeader]: sign(body, key),
    ...(authorization !== undefined && { authorization }),
  };
}
