import { inNextTurn } from '../../receiver/timing/next-turn.ts';
import { performance } from '../../receiver/timing/process-clock.ts';
import { BUSY } from './connection.ts';
import { lockedError } from './errors.ts';
import { pauseWhileBusy } from './pause-while-busy.ts';

/**
 * Tries work again for as long as it answers {@link BUSY}, and rejects once that has taken `limitMs`. Rejects
 * with what the work throws. Resolves in a later turn of the event loop: whoever reads one part after another
 * must not keep deliveries waiting.
 */
export async function retryWhileBusy<T>(limitMs: number, work: () => T | typeof BUSY): Promise<T> {
  const startedAt = performance.now();
  for (let tries = 1; ; tries += 1) {
    const result = work();
    if (result !== BUSY) {
      await new Promise<void>(inNextTurn);
      return result;
    }
    const waitedMs = performance.now() - startedAt;
    if (waitedMs >= limitMs) throw lockedError(limitMs);
    await pauseWhileBusy(tries, waitedMs);
  }
}
