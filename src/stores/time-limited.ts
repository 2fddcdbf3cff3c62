import { messageOf, UnavailableError } from '../errors.ts';
import { withTimeLimit } from '../time-limit.ts';
import type { Store } from './store.ts';

/** A store of which every operation ends in time; a failure is an {@link UnavailableError}. */
export type TimeLimitedStore = Required<Store>;

/** Puts a time limit around every operation of a store, which may have none of its own. */
export function timeLimited(store: Store): TimeLimitedStore {
  const { commandTimeoutMs = 2_000 } = store;
  const limit = async <T>(name: string, operation: () => Promise<T>): Promise<T> => {
    const late = (): Error => new Error(`no answer in ${commandTimeoutMs} ms`);
    try {
      return await withTimeLimit(operation(), commandTimeoutMs, late);
    } catch (cause) {
      const message = `the store failed to ${name} the event: ${messageOf(cause)}`;
      throw new UnavailableError('store_unavailable', message, { cause });
    }
  };
  return {
    commandTimeoutMs,
    claim: (request) => limit('claim', () => store.claim(request)),
    renew: (request) => limit('renew', () => store.renew(request)),
    complete: (request) => limit('complete', () => store.complete(request)),
    release: (request) => limit('release', () => store.release(request)),
  };
}
