import { AbortedError } from '../errors.ts';
import { LazyAbort } from '../timing/lazy-abort.ts';
import { Timer } from '../timing/time-limit.ts';

/**
 * Aborts a run from outside: at `maxRunMs`, at the end of `close()`, or because another process has the
 * event.
 */
export class Interruption extends LazyAbort {
  #endedBy: AbortedError | undefined;
  #limit: Timer | undefined;
  /** A run waits for one promise at a time. */
  #listener: ((reason: AbortedError) => void) | undefined;

  /** Why the run ends without its handlers; undefined after a lost lease, which aborts only their signal. */
  get endedBy(): AbortedError | undefined {
    return this.#endedBy;
  }

  /** Aborts a run that takes longer than `maxRunMs` from the first call on. */
  limit(maxRunMs: number): void {
    this.#limit ??= new Timer(performance.now() + maxRunMs, () => {
      this.abort(new AbortedError('run_timeout', `the handlers had not ended after maxRunMs (${maxRunMs})`));
    });
  }

  unlimit(): void {
    this.#limit?.clear();
    this.#limit = undefined;
  }

  /** What the promise resolves to, or why the run was aborted before. */
  race<T>(promise: Promise<T>): Promise<T | AbortedError> {
    return new Promise((resolve, reject) => {
      if (this.#endedBy !== undefined) resolve(this.#endedBy);
      this.#listener = resolve;
      promise.then(resolve, reject);
    });
  }

  /**
   * Aborts the handlers' signal, and the run whether or not they heed it. After a lost lease the run waits
   * for its handlers.
   */
  override abort(reason: AbortedError): void {
    super.abort(reason);
    if (reason.code === 'lease_lost') return;
    this.#endedBy ??= reason;
    this.#listener?.(reason);
  }
}
