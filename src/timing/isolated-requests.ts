import { propertyOf } from '../foreign-values.ts';

/**
 * True on Cloudflare Workers, where the timers and immediates of a request end with it, and a request that
 * waits for those of another one is ended. So requests share none there.
 */
export const requestsAreIsolated: boolean =
  propertyOf(propertyOf(globalThis, 'navigator'), 'userAgent') === 'Cloudflare-Workers';
