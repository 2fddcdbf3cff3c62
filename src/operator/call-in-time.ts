import { withTimeLimit } from '../receiver/timing/time-limit.ts';

/** The time for a function of the application. */
export const ANSWER_MS = 5_000;

/** Calls a function of the application. Rejects if it throws, rejects, or takes longer than `ms`. */
export async function callInTime<T>(call: () => T | Promise<T>, ms: number): Promise<Awaited<T>> {
  const settled = async (): Promise<Awaited<T>> => await call();
  return withTimeLimit(settled(), ms, () => new Error(`it has not answered within ${ms} ms`));
}
