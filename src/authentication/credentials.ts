import { createHash, timingSafeEqual } from 'node:crypto';
import { ConfigurationError, CredentialsError } from '../errors.ts';
import type { HeaderValues } from '../request/headers.ts';
import { ExpectedText } from './expected-text.ts';

/**
 * The credentials that the service presents, in the shape of its own `authentication` object. `NONE` among several accepts
 * every delivery, whatever else is listed.
 */
export type Authentication =
  | { readonly type: 'NONE' }
  | { readonly type: 'BASIC'; readonly basic: { readonly username: string; readonly password: string } }
  | { readonly type: 'BEARER'; readonly bearer: { readonly token: string } };

/** Checks the `authorization` header of a delivery. */
export interface CredentialsCheck {
  /** The value of `WWW-Authenticate` for a refused delivery. */
  readonly challenge: string;
  /** Throws {@link CredentialsError} unless the header holds any of the accepted credentials, exactly once. */
  readonly check: (headers: HeaderValues) => void;
}

/** Several credentials are accepted at once, so that they can be changed at the service without downtime. */
export function createCredentialsCheck(option: Authentication | readonly Authentication[]): CredentialsCheck {
  const accepted: readonly Authentication[] = Array.isArray(option) ? option : [option];
  if (accepted.length === 0)
    throw new ConfigurationError(
      'authentication must hold at least one entry; for no check say {type: "NONE"}',
    );
  const expected = accepted.map(readAuthentication);
  const isOpen = expected.some(({ digest }) => digest === undefined);
  return {
    challenge: [...new Set(expected.flatMap(({ challenge }) => challenge ?? []))].join(', '),
    check: (headers) => {
      if (isOpen) return;
      const { authorization = [] } = headers;
      if (isCanonical(authorization, expected)) return;
      const given = readAuthorization(authorization);
      // No early exit: neither the scheme nor the position of the match shows in the time taken.
      const matches = expected.filter(
        ({ scheme, digest }) =>
          digest !== undefined && timingSafeEqual(digest, given.digest) && scheme === given.scheme,
      );
      if (matches.length === 0) throw refused();
    },
  };
}

interface Expected {
  readonly scheme: 'none' | 'basic' | 'bearer';
  readonly digest?: Buffer;
  /** The header as nearly every sender writes it. */
  readonly canonical?: ExpectedText;
  readonly challenge?: string;
}

function readAuthentication(authentication: Authentication): Expected {
  switch (authentication?.type) {
    case 'NONE':
      return { scheme: 'none' };
    case 'BASIC': {
      const { username, password } = authentication.basic ?? {};
      checkBasic(username, password);
      const challenge = 'Basic realm="webhooks", charset="UTF-8"';
      const credentials = Buffer.from(`${username}:${password}`);
      const canonical = new ExpectedText(`Basic ${credentials.toString('base64')}`);
      return { scheme: 'basic', digest: digestOf(credentials), canonical, challenge };
    }
    case 'BEARER': {
      const { token } = authentication.bearer ?? {};
      if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) {
        throw new ConfigurationError(
          'authentication.bearer.token must be printable ASCII without spaces, and not empty',
        );
      }
      const canonical = new ExpectedText(`Bearer ${token}`);
      return { scheme: 'bearer', digest: digestOf(token), canonical, challenge: 'Bearer realm="webhooks"' };
    }
    default:
      throw new ConfigurationError('authentication.type must be "NONE", "BASIC" or "BEARER"');
  }
}

/** Saves the digest, which costs as much as the rest of the check, where the header has its usual form. */
function isCanonical(values: readonly string[], expected: readonly Expected[]): boolean {
  const [value] = values;
  if (value === undefined || values.length > 1) return false;
  let isMatch = false;
  for (const { canonical } of expected) isMatch = canonical?.equals(value) || isMatch;
  return isMatch;
}

/** RFC 7617, section 2: no colon in the user-id, no control characters in either. */
function checkBasic(username: unknown, password: unknown): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  const control = /[\x00-\x1f\x7f]/;
  if (typeof username !== 'string' || username === '' || username.includes(':') || control.test(username)) {
    throw new ConfigurationError(
      'authentication.basic.username must be a non-empty string without ":" and control characters',
    );
  }
  if (typeof password !== 'string' || password === '' || control.test(password)) {
    throw new ConfigurationError(
      'authentication.basic.password must be a non-empty string without control characters',
    );
  }
}

/** RFC 7235: a scheme in any case, spaces, then what RFC 7617 or RFC 6750 asks for. */
function readAuthorization(values: readonly string[]): { scheme: Expected['scheme']; digest: Buffer } {
  const [value] = values;
  if (value === undefined || values.length > 1) throw refused();
  const [, scheme, credentials] = /^([a-z]+) +([\x21-\x7e]+)$/i.exec(value) ?? [];
  if (scheme === undefined || credentials === undefined) throw refused();
  if (scheme.toLowerCase() === 'bearer') return { scheme: 'bearer', digest: digestOf(credentials) };
  if (scheme.toLowerCase() === 'basic' && /^[a-z0-9+/]+={0,2}$/i.test(credentials)) {
    return { scheme: 'basic', digest: digestOf(Buffer.from(credentials, 'base64')) };
  }
  throw refused();
}

/** Digests are compared, because they are of one length whatever was sent. */
function digestOf(credentials: string | Uint8Array): Buffer {
  return createHash('sha256').update(credentials).digest();
}

function refused(): CredentialsError {
  return new CredentialsError(
    'credentials_invalid',
    'the authorization header is missing, repeated, malformed or not the expected one',
  );
}
