import { Claim, type ClaimedId, type ClaimServices } from './claim.ts';
import { nextHoldToken } from './claim-token.ts';

/**
 * Resolves with true if the store says that the event of an id was handled. In a store without `peek` this
 * claims and releases the id; the claim is not a run.
 */
export async function isCompleted(id: ClaimedId, services: ClaimServices): Promise<boolean> {
  try {
    const found = await services.store.lookUp({ id: id.claimId });
    if (found !== undefined) return found.state === 'completed';
  } catch {
    return false;
  }
  const claim = new Claim(id, services, [], nextHoldToken());
  const reply = await claim.take().catch(() => undefined);
  if (reply !== undefined && reply.state !== 'claimed') return reply.state === 'completed';
  return (await claim.release([])).state === 'completed';
}
