import type { AbortedError } from '../errors.ts';
import { LazyAbort } from '../timing/lazy-abort.ts';

/** What may come upon a run from outside. */
export class Interruption extends LazyAbort {
  /** A run waits for one thing at a time. */
  #listener: ((reason: AbortedError) => void) | undefined;
  #ending: AbortedError | undefined;

  /** Why the run was ended, if it was. */
  get ending(): AbortedError | undefined {
    return this.#ending;
  }

  /** What the promise resolves to, or why the run was ended before; a lost lease leaves it to its handlers. */
  orEnd<T>(promise: Promise<T>): Promise<T | AbortedError> {
    return new Promise((resolve, reject) => {
      if (this.#ending !== undefined) resolve(this.#ending);
      this.#listener = resolve;
      promise.then(resolve, reject);
    });
  }

  /** Aborts the handlers' signal. All but a lost lease also ends the run, whether or not the handlers heed it. */
  override abort(reason: AbortedError): void {
    super.abort(reason);
    if (reason.code === 'lease_lost') return;
    this.#ending ??= reason;
    this.#listener?.(reason);
  }
}
