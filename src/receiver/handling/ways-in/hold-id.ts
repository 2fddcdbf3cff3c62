import { Claim, type ClaimedEvent, claimedId, type Granted } from '../../dedupe/claim.ts';
import { nextHoldToken } from '../../dedupe/claim-token.ts';
import type { OnTaken } from '../../dedupe/lease.ts';
import type { PeekResult } from '../../dedupe/store.ts';
import type { Warning } from '../../outcomes/report.ts';
import type { LetterServices } from '../letters/letter-services.ts';

/** A claim without a run. Its owner must stop the lease, and then release the claim. */
export interface HeldId extends Granted {
  readonly claim: Claim;
}

/**
 * Claims an event that no run handles, for example for work on its dead letter, and renews the lease.
 * `onTaken` is called if the lease is lost. Reads the id first, because a claim is a write. Rejects if the
 * claim fails, even under `onStoreFailure: 'process'`.
 */
export async function holdId(
  services: LetterServices,
  event: ClaimedEvent,
  warnings: Warning[] = [],
  onTaken: OnTaken = () => {},
): Promise<HeldId | { readonly state: 'busy' | 'completed' }> {
  if (services.completions.has(event.claimId)) return { state: 'completed' };
  // Under `onStoreFailure: 'process'` a run may have no claim, so the store does not know of it.
  if (services.runs.find(event.claimId) !== undefined) return { state: 'busy' };
  const found = await lookUp(event, services);
  if (found?.state === 'completed') return { state: 'completed' };
  if (found?.state === 'running') return { state: 'busy' };
  const claim = new Claim(claimedId(event, services.settings), services, warnings, nextHoldToken());
  try {
    const reply = await claim.take();
    if (reply.state !== 'claimed') return { state: reply.state };
    reply.lease.startRenewing(onTaken);
    return { ...reply, claim };
  } catch (error) {
    // The store failed, but may have granted the claim.
    await claim.release([]);
    throw error;
  }
}

/** Reads the id. Never rejects: the claim that follows shows whether the store fails. */
async function lookUp({ claimId }: ClaimedEvent, { store }: LetterServices): Promise<PeekResult | undefined> {
  try {
    return await store.lookUp({ id: claimId });
  } catch {
    return undefined;
  }
}
