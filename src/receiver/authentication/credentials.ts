import { createHash, timingSafeEqual } from 'node:crypto';
import { ConfigurationError, CredentialsError } from '../errors.ts';
import type { HeaderValues } from '../request/headers.ts';
import { ExpectedText } from './expected-text.ts';

/**
 * Credentials of the service, in the shape of its own `authentication` object. If one of several is `NONE`,
 * every delivery is accepted.
 */
export type Authentication =
  | { readonly type: 'NONE' }
  | { readonly type: 'BASIC'; readonly basic: { readonly username: string; readonly password: string } }
  | { readonly type: 'BEARER'; readonly bearer: { readonly token: string } };

/** Checks the `authorization` header of a delivery. */
export interface CredentialsCheck {
  /** The value of `WWW-Authenticate` in the reply to a refused delivery. */
  readonly challenge: string;
  /**
   * Throws {@link CredentialsError} unless `authorization` was sent once
   * and holds one of the accepted credentials.
   */
  readonly check: (headers: HeaderValues) => void;
}

/** Creates a check that accepts any of several credentials, so that they can be changed without downtime. */
export function createCredentialsCheck(option: Authentication | readonly Authentication[]): CredentialsCheck {
  // Copied, because `map` skips the holes of a list, and a copy has none.
  const accepted: readonly Authentication[] = Array.isArray(option) ? [...option] : [option];
  if (accepted.length === 0)
    throw new ConfigurationError(
      'authentication must hold at least one entry; to accept every sender, set {type: "NONE"}',
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
      // Every entry is compared, so that the time taken reveals neither
      // the scheme nor the position of the match.
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
  /** The whole header in its usual form. */
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

/** Compares the header in its usual form. Without a digest, the check takes half the time. */
function isCanonical(values: readonly string[], expected: readonly Expected[]): boolean {
  const [value] = values;
  if (value === undefined || values.length > 1) return false;
  let isMatch = false;
  for (const { canonical } of expected) isMatch = canonical?.equals(value) || isMatch;
  return isMatch;
}

/**
 * RFC 7617, section 2, forbids a colon in the username, and control
 * characters in the username and the password.
 */
function checkBasic(username: unknown, password: unknown): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 7617, section 2, forbids control characters
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

/**
 * Reads a scheme in any case, spaces (RFC 7235), and credentials (RFC 7617 for Basic, RFC 6750 for Bearer).
 */
function readAuthorization(values: readonly string[]): { scheme: Expected['scheme']; digest: Buffer } {
  const [value] = values;
  if (value === undefined || values.length > 1) throw refused();
  const [, scheme, credentials] = /^([a-z]+) +([\x21-\x7e]+)$/i.exec(value) ?? [];
  if (scheme === undefined || credentials === undefined) throw refused();
  if (scheme.toLowerCase() === 'bearer') return { scheme: 'bearer', digest: digestOf(credentials) };
  const decoded = Buffer.from(credentials, 'base64');
  // Node.js decodes as much as it can: of base64 with other characters, or with padding missing or too much.
  const isBase64 = decoded.toString('base64') === credentials;
  if (scheme.toLowerCase() === 'basic' && isBase64) return { scheme: 'basic', digest: digestOf(decoded) };
  throw refused();
}

/** Credentials are compared by their digests, which have the same length whatever was sent. */
function digestOf(credentials: string | Uint8Array): Buffer {
  return createHash('sha256').update(credentials).digest();
}

function refused(): CredentialsError {
  return new CredentialsError(
    'credentials_invalid',
    'the authorization header is missing, repeated, malformed or not the expected one',
  );
}
