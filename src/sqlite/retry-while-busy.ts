import { setTimeout } from 'node:timers/promises';
import { BUSY } from './connection.ts';
import { lockedError } from './sqlite-errors.ts';

/** A transaction of another connection takes a few milliseconds, most of them for the sync. */
const LONGEST_PAUSE_MS = 8;

/** Waits before the next try, which is the `tries`th, without blocking the event loop. */
export function pauseWhileBusy(tries: number, signal?: AbortSignal): Promise<void> {
  // At random, so that processes that wait do not all come back at once.
  const pauseMs = Math.min(tries, LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2);
  return setTimeout(pauseMs, undefined, signal === undefined ? {} : { signal });
}

/**
 * Tries work again for as long as it answers {@link BUSY}, and rejects once that has taken `limitMs`. Rejects
 * with what the work throws.
 */
export async function retryWhileBusy<T>(limitMs: number, work: () => T | typeof BUSY): Promise<T> {
  const endsAt = performance.now() + limitMs;
  for (let tries = 1; ; tries += 1) {
    const result = work();
    if (result !== BUSY) return result;
    if (performance.now() >= endsAt) throw lockedError(limitMs);
    await pauseWhileBusy(tries);
  }
}
