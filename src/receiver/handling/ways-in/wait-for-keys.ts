import type { Delivery } from '../../request/delivery.ts';
import { waitUntil } from '../../request/delivery-functions.ts';
import { performance } from '../../timing/process-clock.ts';
import type { DeliveryProgress } from './delivery-progress.ts';

/** Returns true if the run that this delivery has begun has had concurrency keys. */
export function hasHadKeys({ joined, run }: DeliveryProgress): boolean {
  return !joined && run !== undefined && run.keyReleases.length > 0;
}

/**
 * Waits for the release of keys on platforms that stop the process after the answer. Elsewhere they are
 * released in the background.
 */
export async function waitForKeys(
  delivery: Delivery,
  { deadline, run }: DeliveryProgress,
  onMisuse: (name: string, problem: string) => void,
): Promise<void> {
  if (run === undefined) return;
  if (delivery.timeLimitMs !== undefined) {
    await run.keysReleased(Math.max(0, deadline.answerBy - performance.now()));
    return;
  }
  if (delivery.waitUntil !== undefined) waitUntil(delivery, run.keysReleased(), onMisuse);
}
