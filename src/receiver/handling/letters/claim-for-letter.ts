import { Claim, type ClaimedEvent, type ClaimServices, claimedId, type Granted } from '../../dedupe/claim.ts';
import { nextHoldToken } from '../../dedupe/claim-token.ts';
import type { PeekResult } from '../../dedupe/store.ts';
import type { Warning } from '../../outcomes/report.ts';

/** A claim for work on a letter. Its owner stops the lease, and then releases the claim. */
export interface LetterClaim extends Granted {
  readonly claim: Claim;
}

interface LetterClaimServices extends ClaimServices {
  readonly runs: { readonly find: (claimId: string) => object | undefined };
}

/**
 * Claims an event that no run handles, for work on its letter, and keeps the lease. Looks first, because a
 * claim is a write. Rejects if the store fails a claim, also under `onStoreFailure: 'process'`.
 */
export async function claimForLetter(
  services: LetterClaimServices,
  event: ClaimedEvent,
  warnings: Warning[] = [],
): Promise<LetterClaim | { readonly state: 'busy' | 'completed' }> {
  if (services.completions.has(event.claimId)) return { state: 'completed' };
  // Finds a run without a claim too, under `onStoreFailure: 'process'`.
  if (services.runs.find(event.claimId) !== undefined) return { state: 'busy' };
  const found = await lookUp(event, services);
  if (found?.state === 'completed') return { state: 'completed' };
  if (found?.state === 'running') return { state: 'busy' };
  const claim = new Claim(claimedId(event, services.settings), services, warnings, nextHoldToken());
  try {
    const reply = await claim.take();
    if (reply.state !== 'claimed') return { state: reply.state };
    reply.lease.keep(() => {});
    return { ...reply, claim };
  } catch (error) {
    // The store failed, but may have granted the claim.
    await claim.release([]);
    throw error;
  }
}

/** Never rejects: the claim that follows shows whether the store fails. */
async function lookUp(
  { claimId }: ClaimedEvent,
  { store }: LetterClaimServices,
): Promise<PeekResult | undefined> {
  try {
    return await store.lookUp({ id: claimId });
  } catch {
    return undefined;
  }
}
