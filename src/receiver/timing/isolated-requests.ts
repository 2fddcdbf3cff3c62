import { propertyOf } from '../values/foreign-values.ts';

/**
 * True on Cloudflare Workers. There the timers and immediates of a request end with that request, and a
 * request that waits for those of another one is ended. So requests must not share them: only this file deals
 * with that.
 */
export const requestsAreIsolated: boolean =
  propertyOf(propertyOf(globalThis, 'navigator'), 'userAgent') === 'Cloudflare-Workers';

/** The original, for applications whose tests replace the timers of their process. */
const { setImmediate } = globalThis;

/** Calls a function once the event loop has read from its sockets; at once if requests are isolated. */
export function inNextTurn(callback: () => void): void {
  if (requestsAreIsolated) callback();
  else setImmediate(callback);
}

/**
 * One call that all callers share until it has settled. If requests are isolated, each caller makes its own.
 */
export class SharedCall<T> {
  readonly #call: () => Promise<T>;
  #pending: Promise<T> | undefined;

  constructor(call: () => Promise<T>) {
    this.#call = call;
  }

  ask(): Promise<T> {
    if (requestsAreIsolated) return this.#call();
    this.#pending ??= this.#call().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }
}

/** Whether work that should have ended by now may have been ended with its request, in silence. */
export function mayHaveVanished(isOverdue: boolean): boolean {
  return requestsAreIsolated && isOverdue;
}
