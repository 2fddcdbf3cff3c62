import { UnavailableError } from '../errors.ts';
import { isInstance, messageOf, propertyOf, show } from '../foreign-values.ts';
import type { Awaitable } from '../timing/awaitable.ts';
import { mustWait } from '../timing/must-wait.ts';
import { withTimeLimit } from '../timing/time-limit.ts';
import type { CompleteRequest, Store } from './store.ts';

/** A store of which every operation ends in time; a failure is an {@link UnavailableError}. */
export interface TimeLimitedStore extends Store {
  readonly commandTimeoutMs: number;
  mustWait(): boolean;
}

/**
 * Puts a time limit around the operations that return a promise. Unless they may wait, an operation that
 * cannot be sent at once fails at once.
 */
export function timeLimited(
  store: Store,
  { mayWait }: { mayWait: boolean } = { mayWait: true },
): TimeLimitedStore {
  const { commandTimeoutMs = 2_000 } = store;
  const inTime = <Request extends CompleteRequest>(request: Request): Request =>
    mayWait ? request : { ...request, waitMs: 0 };
  const late = (): Error => new Error(`no answer in ${commandTimeoutMs} ms`);
  const limit = <T>(name: string, operation: () => Awaitable<T>): Awaitable<T> => {
    try {
      const result = operation();
      if (!isPending(result)) return checkResult(result);
      const answered = Promise.resolve(result).then(checkResult);
      return withTimeLimit(answered, commandTimeoutMs, late).catch((cause) => {
        throw failure(name, cause);
      });
    } catch (cause) {
      throw failure(name, cause);
    }
  };
  return {
    commandTimeoutMs,
    claim: (request) => limit('claim', () => store.claim(inTime(request))),
    renew: (request) => limit('renew', () => store.renew(inTime(request))),
    complete: (request) => limit('complete', () => store.complete(inTime(request))),
    release: (request) => limit('release', () => store.release(inTime(request))),
    mustWait: () => mayWait && mustWait(store),
  };
}

/** A foreign store may return what throws at every question, and what is asked later would fail there. */
function checkResult<T>(result: T): T {
  if (typeof propertyOf(result, 'state') === 'string') return result;
  throw new TypeError(`the store returned ${show(result)}, which has no state`);
}

function isPending<T>(result: Awaitable<T>): result is Promise<T> {
  return typeof propertyOf(result, 'then') === 'function';
}

/** A store with a time limit of its own makes its own errors. */
function failure(name: string, cause: unknown): UnavailableError {
  const isOwn = isInstance(cause, UnavailableError) && cause.code === 'store_unavailable';
  return isOwn ? cause : storeError(name, cause);
}

/** The error of a store's operation that failed. */
export function storeError(name: string, cause: unknown): UnavailableError {
  const message = `the store failed to ${name} the event: ${messageOf(cause)}`;
  return new UnavailableError('store_unavailable', message, { cause });
}
