import type { Authentication } from '../receiver/authentication/credentials.ts';
import type { Key } from '../receiver/authentication/key.ts';
import { sign } from '../receiver/authentication/signature.ts';
import { withSignatureHeader } from '../receiver/provider/checked-provider.ts';
import type { PlayedEvent, Provider } from '../receiver/provider/provider.ts';
import { authorizationOf } from '../service/shapes/authorization.ts';
import { testingOf } from './played-provider.ts';

/** Options of {@link signedHeaders}. */
export interface SignedHeadersOptions {
  /** The signing key of the webhook. */
  readonly key: Key;
  /** The sender; the payments and banking service by default. It needs the member `testing`. */
  readonly provider?: Provider | undefined;
  /**
   * The event in the body, for a sender that names it in headers. `deliver` knows that of an event that
   * `createEvent` made.
   */
  readonly event?: PlayedEvent | undefined;
  /** `NONE` by default. */
  readonly authentication?: Authentication | undefined;
  /** `x-service-signature` by default; a provider that names its header takes no other. */
  readonly signatureHeader?: string | undefined;
}

/**
 * The headers of a delivery of `body`: its signature, made now, its credentials and its content type.
 *
 * @throws ConfigurationError for a missing or empty key, for a provider that cannot be played, and for
 * `signatureHeader` beside a provider that names its header.
 */
export function signedHeaders(
  body: string | Uint8Array,
  { authentication = { type: 'NONE' }, ...signing }: SignedHeadersOptions,
): Record<string, string> {
  const authorization = authorizationOf(authentication);
  return {
    'content-type': 'application/json',
    ...signatureOf(body, signing),
    ...(authorization !== undefined && { authorization }),
  };
}

function signatureOf(
  body: string | Uint8Array,
  { key, provider, signatureHeader, event }: Omit<SignedHeadersOptions, 'authentication'>,
): Readonly<Record<string, string>> {
  if (provider === undefined) return { [signatureHeader ?? 'x-service-signature']: sign(body, key) };
  const sender = signatureHeader === undefined ? provider : withSignatureHeader(provider, signatureHeader);
  return testingOf(sender).sign({ rawBody: Buffer.from(body), key, signedAtMs: Date.now(), event });
}
