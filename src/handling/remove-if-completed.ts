import type { LetterHandle } from '../dead-letters/letter-handle.ts';
import { Claim, type ClaimServices } from '../dedupe/claim.ts';
import { handlingId } from '../dedupe/claim-id.ts';

/**
 * Reads the id again after a letter was stored beside a run that may belong to another delivery, and removes
 * the letter if that run completed the event. A claim is the way to read; one that succeeds is given back.
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
    if (result.state === 'completed' && letter.mayExist) await letter.removeStored();
    if (result.state === 'claimed') await claim.release(result.handled);
  } catch {
    // The store failed, but may have granted the claim. The letter stays: its replay will find the id.
    await claim.release([]);
  }
}
