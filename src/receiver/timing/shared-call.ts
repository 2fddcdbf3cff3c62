import { requestsAreIsolated } from './isolated-requests.ts';

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
