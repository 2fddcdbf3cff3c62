import { timingSafeEqual } from 'node:crypto';
import { ConfigurationError, CredentialsError } from '../errors.ts';
import type { HeaderValues } from '../request/headers.ts';

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
  // `map` skips the holes of a list, and a copy has none.
  const accepted: readonly Authentication[] = Array.isArray(option) ? [...option] : [option];
  if (accepted.length === 0)
    throw new ConfigurationError(
      'authentication must hold at least one entry; to accept every sender, set {type: "NONE"}',
    );
  const expected = accepted.map(readAuthentication);
  const isOpen = expected.some(({ text }) => text === undefined);
  return {
    challenge: [...new Set(expected.flatMap(({ challenge }) => challenge ?? []))].join(', '),
    check: (headers) => {
      if (isOpen) return;
      const given = readAuthorization(headers.authorization ?? []);
      // Every entry is compared, so that the time taken does not reveal the position of the match.
      const matches = expected.filter(({ text }) => text !== undefined && areEqual(text, given));
      if (matches.length === 0) throw refused();
    },
  };
}

interface Expected {
  /** The scheme in lower case, a space, and the credentials; undefined if none are needed. */
  readonly text?: Buffer;
  readonly challenge?: string;
}

function readAuthentication(authentication: Authentication): Expected {
  switch (authentication?.type) {
    case 'NONE':
      return {};
    case 'BASIC': {
      const { username, password } = authentication.basic ?? {};
      checkBasic(username, password);
      const credentials = Buffer.from(`${username}:${password}`).toString('base64');
      return {
        text: Buffer.from(`basic ${credentials}`),
        challenge: 'Basic realm="webhooks", charset="UTF-8"',
      };
    }
    case 'BEARER': {
      const { token } = authentication.bearer ?? {};
      if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) {
        throw new ConfigurationError(
          'authentication.bearer.token must be printable ASCII without spaces, and not empty',
        );
      }
      return { text: Buffer.from(`bearer ${token}`), challenge: 'Bearer realm="webhooks"' };
    }
    default:
      throw new ConfigurationError('authentication.type must be "NONE", "BASIC" or "BEARER"');
  }
}

/** The time taken reveals only the length of the secret. */
function areEqual(expected: Buffer, given: Buffer): boolean {
  return expected.length === given.length && timingSafeEqual(expected, given);
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
 * Returns them in the form of {@link Expected}.
 */
function readAuthorization(values: readonly string[]): Buffer {
  const [value] = values;
  if (value === undefined || values.length > 1) throw refused();
  const [, scheme, credentials] = /^(basic|bearer) +([\x21-\x7e]+)$/i.exec(value) ?? [];
  if (scheme === undefined || credentials === undefined) throw refused();
  return Buffer.from(`${scheme.toLowerCase()} ${credentials}`, 'latin1');
}

function refused(): CredentialsError {
  return new CredentialsError(
    'credentials_invalid',
    'the authorization header is missing, repeated, malformed or not the expected one',
  );
}
