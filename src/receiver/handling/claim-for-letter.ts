import { Claim, type ClaimedEvent, type Granted } from '../dedupe/claim.ts';
import type { Warning } from '../outcomes/report.ts';
import type { Handling } from './handling.ts';

/** A claim for work on a letter. Its owner stops the lease, and then releases the claim. */
export interface LetterClaim extends Granted {
  readonly claim: Claim;
}

/**
 * Claims an event that no run handles, for work on its letter, and keeps the lease. Rejects if the store
 * fails, also under `onStoreFailure: 'process'`.
 */
export async function claimForLetter(
  handling: Handling,
  event: ClaimedEvent,
  warnings: Warning[] = [],
): Promise<LetterClaim | { readonly state: 'busy' | 'completed' }> {
  if (handling.completions.has(event.claimId)) return { state: 'completed' };
  // Finds a run without a claim too, under `onStoreFailure: 'process'`.
  if (handling.runs.find(event.claimId) !== undefined) return { state: 'busy' };
  const claim = new Claim(event, handling, warnings);
  try {
    const answer = await claim.take();
    if (answer.state !== 'claimed') return answer;
    answer.lease.keep(() => {});
    return { ...answer, claim };
  } catch (error) {
    // The store failed, but may have granted the claim.
    await claim.release([]);
    throw error;
  }
}
