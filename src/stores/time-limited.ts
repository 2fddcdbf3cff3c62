import { messageOf, UnavailableError } from '../errors.ts';
import { withTimeLimit } from '../time-limit.ts';
import type { Store } from './store.ts';

/** How long one operation of a store may take, in milliseconds, before it counts as failed. */
export const STORE_TIMEOUT_MS = 2_000;

/** The same store, of which every operation ends in time; a failure is an {@link UnavailableError}. */
export function timeLimited(store: Store): Store {
  return {
    claim: (request) => limit('claim', () => store.claim(request)),
    renew: (request) => limit('renew', () => store.renew(request)),
    complete: (request) => limit('complete', () => store.complete(request)),
    release: (request) => limit('release', () => store.release(request)),
  };
}

async function limit<T>(name: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await withTimeLimit(
      operation(),
      STORE_TIMEOUT_MS,
      () => new Error(`no answer in ${STORE_TIMEOUT_MS} ms`),
    );
  } catch (cause) {
    const message = `the store failed to ${name} the event: ${messageOf(cause)}`;
    throw new UnavailableError('store_unavailable', message, { cause });
  }
}
