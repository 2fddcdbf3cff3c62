import { Claim, type ClaimServices } from '../dedupe/claim.ts';
import { handlingId } from '../dedupe/claim-id.ts';
import type { LetterHandle } from './event-letter.ts';

/**
 * Reads the id again after a letter was stored beside a run, which may be that of another delivery. Removes
 * the letter if that run has completed the event. The id is read by a claim; a claim that succeeds is
 * released.
 */
export async function removeIfCompleted(
  letter: LetterHandle,
  { id, createdAt }: { readonly id: string; readonly createdAt: number },
  { settings, ...services }: ClaimServices,
): Promise<void> {
  const strict = { ...services, settings: { ...settings, onStoreFailure: 'reject' as const } };
  const claim = new Claim({ claimId: handlingId(id), createdAt }, strict, []);
  try {
    const result = await claim.take();
    if (result.state === 'completed') await letter.removeStored();
    if (result.state === 'claimed') await claim.release(result.handled);
  } catch {
    // The store failed, but may have granted the claim. The letter stays: its replay will find the id.
    await claim.release([]);
  }
}
