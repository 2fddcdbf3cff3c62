import type { Delivery } from '../../request/delivery.ts';
import { waitUntil } from '../../request/delivery-functions.ts';
import type { Deadline } from '../../timing/deadline.ts';
import { performance } from '../../timing/process-clock.ts';
import type { Run } from '../run/run.ts';
import type { FollowedRun } from '../run/runs-in-flight.ts';

/** Returns true if this delivery began the run, and its handlers have had concurrency keys. */
export function hasHadKeys({ joined, run }: FollowedRun): boolean {
  return !joined && run.keyReleases.length > 0;
}

/**
 * Waits for the release of keys on platforms that stop the process after the answer. Elsewhere they are
 * released in the background.
 */
export async function waitForKeyReleases(
  delivery: Delivery,
  deadline: Deadline,
  run: Run,
  onMisuse: (name: string, problem: string) => void,
): Promise<void> {
  if (delivery.timeLimitMs !== undefined) {
    await run.keysReleased(Math.max(0, deadline.answerBy - performance.now()));
    return;
  }
  if (delivery.waitUntil !== undefined) waitUntil(delivery, run.keysReleased(), onMisuse);
}
