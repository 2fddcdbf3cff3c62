import { jittered } from '../../receiver/timing/jitter.ts';
import { pause } from '../../receiver/timing/process-clock.ts';

/** A transaction of another connection takes a few milliseconds, most of them for the sync. */
const LONGEST_PAUSE_MS = 8;
const SHORTEST_PAUSE_MS = 2;

/** After a wait of this many milliseconds pauses are shorter by one. */
const WAIT_PER_MS_LESS = 50;

/**
 * Waits before the next try for the lock, which is the `tries`th, without blocking the event loop. A
 * connection that has waited for long tries more often than others, so it is the next to get the lock.
 */
export async function pauseWhileBusy(tries: number, waitedMs: number): Promise<void> {
  const longestMs = Math.min(tries, LONGEST_PAUSE_MS) - waitedMs / WAIT_PER_MS_LESS;
  await pause(jittered(Math.max(longestMs, SHORTEST_PAUSE_MS)));
}
