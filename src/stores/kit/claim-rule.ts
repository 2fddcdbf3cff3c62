import { isHold } from '../../receiver/dedupe/claim-token.ts';
import type { ClaimRequest, PeekResult } from '../../receiver/dedupe/store.ts';

/** An id that is claimed or released. Times are in milliseconds of one clock. */
export interface UncompletedId<Handled> {
  /** The owner of the id; empty if no claim was granted yet. */
  readonly token: string;
  /** The number of claims so far that were runs. */
  readonly attempt: number;
  readonly spacedAttempts: number;
  /** When a claim was last counted in `spacedAttempts`. */
  readonly countedAt: number;
  readonly firstClaimedAt: number;
  readonly abandoned: number;
  /** The names of the handlers that have finished, as the store keeps them. */
  readonly handled: Handled;
  /** The end of the lease; undefined once the id is released. */
  readonly leaseEndsAt: number | undefined;
  readonly expiresAt: number;
  /** The tokens whose claims are refused, because they may arrive after their release. */
  readonly refused?: Refused | undefined;
}

/**
 * The value of `countedAt` before the first run. It makes an earlier version, which has no holds, count the
 * first run.
 */
const NEVER = 0;

/** The time until which the claims of each token are refused. */
export type Refused = ReadonlyMap<string, number>;

/**
 * The most tokens of one id whose claims are refused at once. The others are forgotten, the oldest first: a
 * store that keeps failing could leave any number.
 */
export const MOST_REFUSED = 100;

/** The part of a claim that the rule needs. */
export type ClaimTerms = Pick<ClaimRequest, 'token' | 'leaseMs' | 'retentionMs' | 'attemptSpacingMs'>;

/** The part of a release that the rule needs. */
export interface ReleaseTerms<Handled> {
  readonly token: string;
  readonly retentionMs: number;
  /** The names of the finished handlers; undefined to keep those of an earlier release. */
  readonly handled: Handled | undefined;
  readonly refuseClaimsMs: number;
  /** Refusals are kept for this much longer, because the clocks of processes differ; 0 by default. */
  readonly allowanceMs?: number;
}

/** Returns the time for which a claim of the token is still refused, or 0 if the token may take the id. */
export function msUntilFree<Handled>(found: UncompletedId<Handled>, token: string, now: number): number {
  const { leaseEndsAt = now, refused } = found;
  const msOfLease = found.token === token ? 0 : leaseEndsAt - now;
  if (msOfLease > 0) return msOfLease;
  return Math.max(0, (refused?.get(token) ?? now) - now);
}

/**
 * Returns true if the token may renew its lease. An id that was never claimed counts as absent, so a renewal
 * creates it, unless claims of the token are refused: it would take the id after its release.
 */
export function isRenewable<Handled>(found: UncompletedId<Handled>, owner: string, now: number): boolean {
  if (found.token === '') return msUntilFree(found, owner, now) === 0;
  return found.token === owner && found.leaseEndsAt !== undefined;
}

/** Returns the id after the first claim on it. */
export function afterFirstClaim<Handled>(
  terms: ClaimTerms,
  handled: Handled,
  now: number,
): UncompletedId<Handled> {
  const count = isHold(terms.token) ? 0 : 1;
  return {
    token: terms.token,
    attempt: count,
    spacedAttempts: count,
    countedAt: count === 0 ? NEVER : now,
    firstClaimedAt: now,
    abandoned: 0,
    handled,
    leaseEndsAt: now + terms.leaseMs,
    expiresAt: expiryOf(terms, now),
  };
}

/** Returns a free id after a claim on it. A claim of its owner is not counted again. */
export function afterNextClaim<Handled>(
  found: UncompletedId<Handled>,
  terms: ClaimTerms,
  now: number,
): UncompletedId<Handled> {
  const leaseEndsAt = now + terms.leaseMs;
  const expiresAt = expiryOf(terms, now);
  const isReleased = found.leaseEndsAt === undefined;
  if (found.token === terms.token && !isReleased) return { ...found, leaseEndsAt, expiresAt };
  const isAbandoned = !isReleased && !isHold(found.token);
  const isFirst = found.attempt === 0;
  const next = {
    ...found,
    token: terms.token,
    firstClaimedAt: isFirst ? now : found.firstClaimedAt,
    abandoned: found.abandoned + (isAbandoned ? 1 : 0),
    leaseEndsAt,
    expiresAt,
  };
  if (isHold(terms.token)) return next;
  const counts = isFirst || isSpaced(now - found.countedAt, terms.attemptSpacingMs);
  return {
    ...next,
    attempt: found.attempt + 1,
    spacedAttempts: found.spacedAttempts + (counts ? 1 : 0),
    countedAt: counts ? now : found.countedAt,
  };
}

/** Returns the number of a granted claim. A claim that is not a run has the number of the next run. */
export function attemptOf({ token, attempt }: Pick<UncompletedId<unknown>, 'token' | 'attempt'>): number {
  return isHold(token) ? attempt + 1 : attempt;
}

/** Returns the id after a release by its owner. */
export function afterOwnRelease<Handled>(
  found: UncompletedId<Handled>,
  terms: ReleaseTerms<Handled>,
  now: number,
): UncompletedId<Handled> {
  return {
    ...found,
    leaseEndsAt: undefined,
    handled: terms.handled ?? found.handled,
    expiresAt: now + Math.max(terms.retentionMs, terms.refuseClaimsMs),
    refused: refusedAfter(found.refused, terms, now),
  };
}

/** Returns the id after a release of a token that does not have it. The claims of that token are refused. */
export function afterForeignRelease<Handled>(
  found: UncompletedId<Handled> | undefined,
  noneHandled: Handled,
  terms: ReleaseTerms<Handled>,
  now: number,
): UncompletedId<Handled> {
  const id = found ?? {
    token: '',
    attempt: 0,
    spacedAttempts: 0,
    countedAt: NEVER,
    firstClaimedAt: now,
    abandoned: 0,
    handled: noneHandled,
    leaseEndsAt: undefined,
    expiresAt: now,
  };
  return {
    ...id,
    expiresAt: Math.max(id.expiresAt, now + terms.refuseClaimsMs),
    refused: refusedAfter(id.refused, terms, now),
  };
}

/** Returns the state of an id for a `peek`. */
export function stateOf(found: UncompletedId<unknown> | undefined, now: number): PeekResult['state'] {
  return (found?.leaseEndsAt ?? now) > now ? 'running' : 'unknown';
}

function refusedAfter(
  refused: Refused | undefined,
  { token, refuseClaimsMs, allowanceMs = 0 }: Omit<ReleaseTerms<unknown>, 'handled'>,
  now: number,
): Refused | undefined {
  if (refuseClaimsMs <= 0) return refused;
  const others = [...(refused ?? [])].filter(
    ([other, until]) => other !== token && until + allowanceMs > now,
  );
  return new Map([...others.slice(1 - MOST_REFUSED), [token, now + refuseClaimsMs]]);
}

function expiryOf({ leaseMs, retentionMs }: ClaimTerms, now: number): number {
  return now + Math.max(leaseMs, retentionMs);
}

/**
 * Returns true as well if the clock was set back: one attempt too many parks an event early, but one too few
 * loses it.
 */
function isSpaced(elapsedMs: number, attemptSpacingMs = 0): boolean {
  return elapsedMs < 0 || elapsedMs >= attemptSpacingMs;
}
