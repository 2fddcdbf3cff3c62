import { setTimeout as delay } from 'node:timers/promises';

/**
 * The time that a server has to answer at first: a client that has just been created is not connected yet,
 * and soon refuses an operation.
 */
export const CONNECTION_LIMIT_MS: number = 5_000;

const PAUSE_MS = 50;

/** Repeats an attempt that ended too early, whether it rejected or returned the error in its result. */
export async function repeat<T>(
  attempt: () => Promise<T>,
  isTooEarly: (error: unknown) => boolean,
  errorOf: (result: T) => unknown = () => undefined,
): Promise<T> {
  for (;;) {
    try {
      const result = await attempt();
      if (!isTooEarly(errorOf(result))) return result;
    } catch (error) {
      if (!isTooEarly(error)) throw error;
    }
    await delay(PAUSE_MS);
  }
}
