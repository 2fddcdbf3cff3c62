import {
  Claim,
  type ClaimedEvent,
  type ClaimedId,
  type ClaimServices,
  claimedId,
  type Granted,
} from '../../dedupe/claim.ts';
import { nextHoldToken } from '../../dedupe/claim-token.ts';
import type { OnTaken } from '../../dedupe/lease.ts';
import type { PeekResult } from '../../dedupe/store.ts';
import type { Warning } from '../../outcomes/report.ts';
import type { ReceiverServices } from './receiver-services.ts';

/** A claim without a run. Its owner must stop the lease, and then release the claim. */
export interface HeldId extends Granted {
  readonly claim: Claim;
}

type HoldServices = ClaimServices & Pick<ReceiverServices, 'runs'>;

/** The answer to the wish to hold an id. */
type HoldReply = HeldId | { readonly state: 'busy' | 'completed' };

/** Holds an event that no run handles, for example for work on its dead letter. See {@link holdId}. */
export function holdEvent(
  services: HoldServices,
  event: ClaimedEvent,
  warnings?: Warning[],
): Promise<HoldReply> {
  return holdId(services, claimedId(event, services.settings), warnings);
}

/**
 * Claims an id that no run has, and renews the lease, for which `onTaken` is called. Reads the id first,
 * because a claim is a write. Rejects if the claim fails, even under `onStoreFailure: 'process'`.
 */
export async function holdId(
  services: HoldServices,
  id: ClaimedId,
  warnings: Warning[] = [],
  onTaken: OnTaken = () => {},
): Promise<HoldReply> {
  if (services.completions.has(id.claimId)) return { state: 'completed' };
  // Under `onStoreFailure: 'process'` a run may have no claim, so the store does not know of it.
  if (services.runs.find(id.claimId) !== undefined) return { state: 'busy' };
  const found = await lookUp(id, services);
  if (found?.state === 'completed') return { state: 'completed' };
  if (found?.state === 'running') return { state: 'busy' };
  const claim = new Claim(id, services, warnings, nextHoldToken());
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
async function lookUp({ claimId }: ClaimedId, { store }: HoldServices): Promise<PeekResult | undefined> {
  try {
    return await store.lookUp({ id: claimId });
  } catch {
    return undefined;
  }
}
