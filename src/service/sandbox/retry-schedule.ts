import type { Answer, DeliveryAttempt } from './attempt.ts';

/** The delay after each failed attempt (interface, "Limits"). */
const RETRY_DELAYS_MS = [60_000, 300_000, 900_000] as const;

/** The step after an attempt: nothing, a retry, or the end of all deliveries to its webhook. */
export function followingStep(
  attempt: DeliveryAttempt,
): 'none' | 'give up' | { readonly retryAfterMs: number } {
  if (isSuccess(attempt) || attempt.duplicate || attempt.changed) return 'none';
  const retryAfterMs = RETRY_DELAYS_MS[attempt.number - 1];
  return retryAfterMs === undefined ? 'give up' : { retryAfterMs };
}

/** Returns true if the service counts an answer as success (interface, "Limits"). */
export function isSuccess({ status }: Answer): boolean {
  return status !== undefined && status >= 200 && status <= 299;
}
