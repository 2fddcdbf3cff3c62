import { CLOCK_ALLOWANCE_MS, type OpenId } from './id-item.ts';

/** A claim. */
export interface ClaimTerms {
  readonly token: string;
  readonly leaseMs: number;
  readonly keepMs: number;
  /** Claims closer together than this count once in `spacedAttempts`. */
  readonly spacingMs: number;
}

/** The id as it is after the first claim on it. */
export function firstClaim(terms: ClaimTerms, now: number): OpenId {
  return {
    token: terms.token,
    attempt: 1,
    spacedAttempts: 1,
    countedAt: now,
    firstClaimedAt: now,
    abandoned: 0,
    handled: '',
    ...timesOf(terms, now),
  };
}

/** The result of a claim on an open id: the id to write, or the answer `busy <msLeft>`. */
export function nextClaim(found: OpenId, terms: ClaimTerms, now: number): OpenId | string {
  const { leaseEndsAt, countedAt } = found;
  const isMine = found.token === terms.token;
  if (isMine && leaseEndsAt !== undefined) return { ...found, ...timesOf(terms, now) };
  const msLeft = leaseEndsAt === undefined ? 0 : leaseEndsAt + CLOCK_ALLOWANCE_MS - now;
  if (msLeft > 0) return `busy ${msLeft}`;
  const counts = isSpaced(now - countedAt, terms.spacingMs);
  return {
    ...found,
    token: terms.token,
    attempt: found.attempt + 1,
    spacedAttempts: found.spacedAttempts + (counts ? 1 : 0),
    countedAt: counts ? now : countedAt,
    abandoned: found.abandoned + (leaseEndsAt === undefined ? 0 : 1),
    ...timesOf(terms, now),
  };
}

/** The answer to a claim that was written. */
export function claimAnswer(id: OpenId, now: number): string {
  const firstClaimedMsAgo = Math.max(0, now - id.firstClaimedAt);
  return ['claimed', id.attempt, id.abandoned, firstClaimedMsAgo, id.spacedAttempts, id.handled].join(' ');
}

/** When a lease ends that begins now, and when its id is forgotten. */
export function timesOf(
  { leaseMs, keepMs }: Pick<ClaimTerms, 'leaseMs' | 'keepMs'>,
  now: number,
): { leaseEndsAt: number; expiresAt: number } {
  return { leaseEndsAt: now + leaseMs, expiresAt: now + keepMs };
}

/**
 * A clock that was set back says nothing about the time between two claims. One attempt too many parks an
 * event early, but one too few loses it.
 */
function isSpaced(elapsedMs: number, spacingMs: number): boolean {
  return elapsedMs < 0 || elapsedMs >= spacingMs;
}
