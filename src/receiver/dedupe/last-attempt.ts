import type { RetryRules } from '../provider/retry-rules.ts';
import type { ClaimedResult } from './store.ts';

/** Returns true if, by its age, an event may get no further retry. */
export function isFinalByAge(
  ageMs: number,
  { finalFromMs }: Pick<RetryRules, 'finalFromMs'>,
  firstClaimedMsAgo = 0,
): boolean {
  return Math.max(ageMs, firstClaimedMsAgo) >= finalFromMs;
}

/**
 * Returns true for the last attempt, by age or by count. Attempts that never reached us are not counted. The
 * dead letter of such an attempt is stored before its handlers (`prepareLastAttempt` in `handle-event.ts`),
 * and a failure is answered `parked` (`run-end.ts`). Without a claim, only the age counts: see `deliver.ts`.
 */
export function isFinal(
  ageMs: number,
  retries: Pick<RetryRules, 'count' | 'finalFromMs'>,
  claim: Pick<ClaimedResult, 'attempt' | 'firstClaimedMsAgo' | 'spacedAttempts'>,
): boolean {
  const count = claim.spacedAttempts ?? claim.attempt;
  return count > retries.count || isFinalByAge(ageMs, retries, claim.firstClaimedMsAgo);
}
