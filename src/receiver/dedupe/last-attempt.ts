import type { Retries } from '../provider/provider.ts';
import type { ClaimedResult } from './store.ts';

/**
 * Returns true if, by its age, an event may get no further retry. A list of delays can be read as offsets
 * from the first attempt, or as pauses: "after 1, 5 and 15 minutes" as 1, 5 and 15 or as 1, 6 and 21 minutes.
 * In both, nine tenths of the last delay lie between the last two retries. If only the span of the retries is
 * known, it is half of that.
 */
export function isFinalByAge(ageMs: number, retries: Retries, firstClaimedMsAgo = 0): boolean {
  if (retries === 'none') return true;
  const longestMs = Math.max(ageMs, firstClaimedMsAgo);
  if ('forMs' in retries) return longestMs >= retries.forMs / 2;
  const lastDelayMs = retries.at(-1);
  return lastDelayMs === undefined || longestMs >= 0.9 * lastDelayMs;
}

/**
 * Returns true for the last attempt, by age or by count. Attempts that never reached us are not counted. The
 * dead letter of such an attempt is stored before its handlers (`prepareLastAttempt` in `handle-event.ts`),
 * and a failure is answered `parked` (`run-end.ts`). Without a claim, only the age counts: see `deliver.ts`.
 */
export function isFinal(
  ageMs: number,
  retries: Retries,
  claim: Pick<ClaimedResult, 'attempt' | 'firstClaimedMsAgo' | 'spacedAttempts'>,
): boolean {
  const count = claim.spacedAttempts ?? claim.attempt;
  return count > retryCount(retries) || isFinalByAge(ageMs, retries, claim.firstClaimedMsAgo);
}

function retryCount(retries: Retries): number {
  if (retries === 'none') return 0;
  return 'forMs' in retries ? retries.least : retries.length;
}

/** No sender retries sooner, if its delays are not known. */
const LEAST_SPACING_MS = 30_000;

/** Claims closer together than this come from concurrent duplicates, not from retries, and count once. */
export function attemptSpacingMs(retries: Retries): number {
  if (retries === 'none') return 0;
  return 'forMs' in retries ? LEAST_SPACING_MS : (retries[0] ?? 0) / 2;
}

/** When the sender may be asked to come again; a minute if its delays are not known. */
export function firstDelayMs(retries: Retries): number {
  const [first = 60_000] = Array.isArray(retries) ? retries : [];
  return first;
}

/** The time from the first attempt to the last, if the delays are pauses; 0 without retries. */
export function retrySpanMs(retries: Retries): number {
  if (retries === 'none') return 0;
  return 'forMs' in retries ? retries.forMs : retries.reduce((sum, delayMs) => sum + delayMs, 0);
}
