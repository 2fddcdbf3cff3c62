import { withTimeLimit } from '../timing/time-limit.ts';
import { explain, mayPass } from './d1-errors.ts';

const FIRST_PAUSE_MS = 20;

/**
 * Runs work, and runs it again after a failure that passes, for as long as `limitMs`. Work that succeeded
 * although its answer was lost runs twice. Rejects with the reason of the last failure.
 */
export function retryInTime<T>(limitMs: number, work: (endsAt: number) => Promise<T>): Promise<T> {
  const endsAt = performance.now() + limitMs;
  let lastFailure: unknown;
  const tryAgain = async (pauseMs: number): Promise<T> => {
    try {
      return await work(endsAt);
    } catch (error) {
      lastFailure = error;
      // At random, so that Workers that wait do not all come back at once.
      const pause = pauseMs * (0.5 + Math.random() / 2);
      if (!mayPass(error) || performance.now() + pause >= endsAt) throw explain(error);
      await new Promise((resolve) => setTimeout(resolve, pause));
      return tryAgain(2 * pauseMs);
    }
  };
  return withTimeLimit(tryAgain(FIRST_PAUSE_MS), limitMs, () =>
    lastFailure === undefined ? new Error(`D1 did not answer in ${limitMs} ms`) : explain(lastFailure),
  );
}
