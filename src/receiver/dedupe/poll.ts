import { jittered } from '../timing/jitter.ts';
import { performance } from '../timing/process-clock.ts';
import type { Busy } from './claim.ts';

/**
 * The longest pause between two claims of an id that another process has. Half of it is random, so that
 * processes spread out.
 */
export const POLL_MS = 400;

/** The pause before the id is claimed again. A store that has failed is not asked more often again. */
export function pollPauseMs({ endsAt }: Busy, hasFailed: boolean): number {
  const leftMs = hasFailed ? POLL_MS : Math.max(0, endsAt - performance.now()) + 1;
  return jittered(Math.min(POLL_MS, leftMs));
}
