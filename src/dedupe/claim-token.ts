import { randomBytes } from 'node:crypto';

/**
 * No two claims may share a token: those of this process begin alike, and no other process begins so. Workers
 * gives no random bytes before its first request.
 */
let prefix: string | undefined;
let claims = 0;

/** A token that no other claim has, in whatever process. */
export function nextToken(): string {
  prefix ??= randomBytes(15).toString('base64url');
  claims += 1;
  return `${prefix}${claims}`;
}
