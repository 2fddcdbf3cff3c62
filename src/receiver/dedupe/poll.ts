import { jittered } from '../timing/jitter.ts';
import { performance } from '../timing/process-clock.ts';
import type { Busy } from './claim.ts';

/**
 * The longest pause between two claims of an id that another process has. Half of it is random, so that
 * processes spread out.
 */
export const POLL_MS = 400;

/**
 * The pause before the id is claimed again. After a failure it is the longest one, whenever the lease ends.
 */
export function pollPauseMs({ endsAt }: Busy, hasFailed: boolean): number {
  const leftMs = hasFailed ? POLL_MS : Math.max(0, endsAt - performance.now()) + 1;
  return jittered(Math.min(POLL_MS, leftMs));
}
