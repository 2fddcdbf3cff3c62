import { randomBytes } from 'node:crypto';

/**
 * No two claims may share a token: all tokens of this process have a random prefix, which no other process
 * has. It is created late, because Cloudflare Workers gives no random bytes before its first request.
 */
let prefix: string | undefined;
let claims = 0;

/** Earlier versions store tokens with this prefix, so it must not change. */
export const HOLD = 'hold:';

/** A token that no other claim of any process has. */
export function nextToken(): string {
  prefix ??= randomBytes(15).toString('base64url');
  claims += 1;
  return `${prefix}${claims}`;
}

/** A unique token for a claim under which no handler runs. */
export function nextHoldToken(): string {
  return HOLD + nextToken();
}

/** Returns true for a claim without a run: it never counts as an attempt, or as abandoned. */
export function isHold(token: string): boolean {
  return token.startsWith(HOLD);
}
