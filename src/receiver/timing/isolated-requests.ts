import { propertyOf } from '../values/foreign-values.ts';

/**
 * True on Cloudflare Workers. There the timers and immediates of a request end with that request, and a
 * request that waits for those of another one is ended. So requests must not share them.
 */
export const requestsAreIsolated: boolean =
  propertyOf(propertyOf(globalThis, 'navigator'), 'userAgent') === 'Cloudflare-Workers';

/** Returns true if work that should have ended by now may have been ended with its request, in silence. */
export function mayHaveVanished(isOverdue: boolean): boolean {
  return requestsAreIsolated && isOverdue;
}
