import { isPosthornError, messageOf, propertyOf, UnavailableError } from '../errors.ts';
import type { Awaitable } from '../timing/awaitable.ts';
import { withTimeLimit } from '../timing/time-limit.ts';
import type {
  ClaimRequest,
  ClaimResult,
  CompleteRequest,
  CompleteResult,
  LeaseRequest,
  ReleaseRequest,
  ReleaseResult,
  RenewResult,
  Store,
} from './store.ts';

/** A store of which every operation ends in time; a failure is an {@link UnavailableError}. */
export interface TimeLimitedStore {
  readonly commandTimeoutMs: number;
  claim(request: ClaimRequest): Promise<ClaimResult>;
  renew(request: LeaseRequest): Promise<RenewResult>;
  complete(request: CompleteRequest): Promise<CompleteResult>;
  release(request: ReleaseRequest): Promise<ReleaseResult>;
}

/** Puts a time limit around the operations that return a promise. */
export function timeLimited(store: Store): TimeLimitedStore {
  const { commandTimeoutMs = 2_000 } = store;
  const late = (): Error => new Error(`no answer in ${commandTimeoutMs} ms`);
  const limit = async <T>(name: string, operation: () => Awaitable<T>): Promise<T> => {
    try {
      const result = operation();
      // What a foreign store returns may throw when its `then` is read or called: here that is an error of
      // the store.
      const isPending = typeof propertyOf(result, 'then') === 'function';
      return await (isPending ? withTimeLimit(Promise.resolve(result), commandTimeoutMs, late) : result);
    } catch (cause) {
      // A store with a time limit of its own says so itself.
      throw isPosthornError(cause) && cause.code === 'store_unavailable' ? cause : storeError(name, cause);
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

/** What a failed operation of a store rejects with. */
export function storeError(name: string, cause: unknown): UnavailableError {
  const message = `the store failed to ${name} the event: ${messageOf(cause)}`;
  return new UnavailableError('store_unavailable', message, { cause });
}
