import type { ClaimRequest } from '../../receiver/dedupe/store.ts';

/** An id that is claimed or released. Times are in milliseconds of one clock. */
export interface OpenId<Handled> {
  readonly token: string;
  readonly attempt: number;
  readonly spacedAttempts: number;
  /** When a claim was last counted in `spacedAttempts`. */
  readonly countedAt: number;
  readonly firstClaimedAt: number;
  readonly abandoned: number;
  /** The names of the handlers that have finished, as the store keeps them. */
  readonly handled: Handled;
  /** Undefined once released. */
  readonly leaseEndsAt: number | undefined;
  readonly expiresAt: number;
}

/** The part of a claim that the rule needs. */
export type ClaimTerms = Pick<ClaimRequest, 'token' | 'leaseMs' | 'retentionMs' | 'attemptSpacingMs'>;

/** Returns how long the lease of another token still holds; 0 if the token may claim the id. */
export function msUntilFree<Handled>(found: OpenId<Handled>, token: string, now: number): number {
  if (found.token === token || found.leaseEndsAt === undefined) return 0;
  return Math.max(0, found.leaseEndsAt - now);
}

/** The id as it is after the first claim on it. */
export function firstClaim<Handled>(terms: ClaimTerms, handled: Handled, now: number): OpenId<Handled> {
  return {
    token: terms.token,
    attempt: 1,
    spacedAttempts: 1,
    countedAt: now,
    firstClaimedAt: now,
    abandoned: 0,
    handled,
    leaseEndsAt: now + terms.leaseMs,
    expiresAt: expiryOf(terms, now),
  };
}

/** The id as it is after a claim on a free one. For the token that holds it nothing is counted again. */
export function nextClaim<Handled>(found: OpenId<Handled>, terms: ClaimTerms, now: number): OpenId<Handled> {
  const leaseEndsAt = now + terms.leaseMs;
  const expiresAt = expiryOf(terms, now);
  const isReleased = found.leaseEndsAt === undefined;
  if (found.token === terms.token && !isReleased) return { ...found, leaseEndsAt, expiresAt };
  const counts = isSpaced(now - found.countedAt, terms.attemptSpacingMs);
  return {
    token: terms.token,
    attempt: found.attempt + 1,
    spacedAttempts: found.spacedAttempts + (counts ? 1 : 0),
    countedAt: counts ? now : found.countedAt,
    firstClaimedAt: found.firstClaimedAt,
    abandoned: found.abandoned + (isReleased ? 0 : 1),
    handled: found.handled,
    leaseEndsAt,
    expiresAt,
  };
}

function expiryOf({ leaseMs, retentionMs }: ClaimTerms, now: number): number {
  return now + Math.max(leaseMs, retentionMs);
}

/**
 * A clock that was set back says nothing about the time between two claims. One attempt too many parks an
 * event early, but one too few loses it.
 */
function isSpaced(elapsedMs: number, attemptSpacingMs = 0): boolean {
  return elapsedMs < 0 || elapsedMs >= attemptSpacingMs;
}
