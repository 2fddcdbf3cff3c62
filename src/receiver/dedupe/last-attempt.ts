import type { ClaimedResult } from './store.ts';

/**
 * Returns true if, by its age, an event may get no further retry. "After 1, 5 and 15 minutes" can be read as
 * offsets of 1, 5 and 15 or of 1, 6 and 21 minutes. In both, nine tenths of the last delay lie between the
 * last two retries.
 */
export function isFinalByAge(
  ageMs: number,
  retryScheduleMs: readonly number[],
  firstClaimedMsAgo = 0,
): boolean {
  const lastDelayMs = retryScheduleMs.at(-1);
  if (lastDelayMs === undefined) return true;
  return Math.max(ageMs, firstClaimedMsAgo) >= 0.9 * lastDelayMs;
}

/**
 * Returns true for the last attempt, by age or by count. Attempts that never reached us are not counted. The
 * dead letter of such an attempt is stored before its handlers (`prepareLastAttempt` in `handle-event.ts`),
 * and a failure is answered `parked` (`run-end.ts`). Without a claim, only the age counts: see `deliver.ts`.
 */
export function isFinal(
  ageMs: number,
  retryScheduleMs: readonly number[],
  claim: Pick<ClaimedResult, 'attempt' | 'firstClaimedMsAgo' | 'spacedAttempts'>,
): boolean {
  const count = claim.spacedAttempts ?? claim.attempt;
  return count > retryScheduleMs.length || isFinalByAge(ageMs, retryScheduleMs, claim.firstClaimedMsAgo);
}

/** Claims closer together than this come from concurrent duplicates, not from retries, and count once. */
export function attemptSpacingMs(retryScheduleMs: readonly number[]): number {
  return (retryScheduleMs[0] ?? 0) / 2;
}
