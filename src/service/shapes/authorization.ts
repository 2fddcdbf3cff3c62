import type { Authentication } from '../../receiver/authentication/credentials.ts';

/**
 * The `Authorization` header that a delivery presents (interface, "Authentication"); undefined for `NONE`.
 */
export function authorizationOf(authentication: Authentication): string | undefined {
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
