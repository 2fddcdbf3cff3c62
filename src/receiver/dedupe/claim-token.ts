import { randomBytes } from 'node:crypto';

/**
 * No two claims may share a token: all tokens of this process have a random prefix, which no other process
 * has. It is created late, because Cloudflare Workers gives no random bytes before its first request.
 */
let prefix: string | undefined;
let claims = 0;

/** A token that no other claim has, in whatever process. */
export function nextToken(): string {
  prefix ??= randomBytes(15).toString('base64url');
  claims += 1;
  return `${prefix}${claims}`;
}
