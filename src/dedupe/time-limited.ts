import { messageOf, UnavailableError } from '../errors.ts';
import type { MaybePromise } from '../timing/maybe-promise.ts';
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
import { timelyForm } from './timely-operation.ts';

/**
 * A store of which every operation ends in time; a failure is an {@link UnavailableError}. The memory store answers at once,
 * without a promise.
 */
export interface TimeLimitedStore {
  readonly commandTimeoutMs: number;
  claim(request: ClaimRequest): MaybePromise<ClaimResult>;
  renew(request: LeaseRequest): MaybePromise<RenewResult>;
  complete(request: CompleteRequest): MaybePromise<CompleteResult>;
  release(request: ReleaseRequest): MaybePromise<ReleaseResult>;
}

/** Puts a time limit around every operation of a store that has none of its own. */
export function timeLimited(store: Store): TimeLimitedStore {
  const { commandTimeoutMs = 2_000 } = store;
  const late = (): Error => new Error(`no answer in ${commandTimeoutMs} ms`);
  const limit = async <T>(name: string, operation: () => Promise<T>): Promise<T> => {
    try {
      // Through a promise of ours: the `then` of what a foreign store returns may throw.
      return await withTimeLimit((async () => operation())(), commandTimeoutMs, late);
    } catch (cause) {
      throw storeError(name, cause);
    }
  };
  return {
    commandTimeoutMs,
    claim: (request) => timelyForm(store.claim)?.(request) ?? limit('claim', () => store.claim(request)),
    renew: (request) => timelyForm(store.renew)?.(request) ?? limit('renew', () => store.renew(request)),
    complete: (request) =>
      timelyForm(store.complete)?.(request) ?? limit('complete', () => store.complete(request)),
    release: (request) =>
      timelyForm(store.release)?.(request) ?? limit('release', () => store.release(request)),
  };
}

/** What a failed operation of a store rejects with. */
export function storeError(name: string, cause: unknown): UnavailableError {
  const message = `the store failed to ${name} the event: ${messageOf(cause)}`;
  return new UnavailableError('store_unavailable', message, { cause });
}
