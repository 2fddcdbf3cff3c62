import { AbortedError } from '../../errors.ts';
import { performance } from '../../timing/process-clock.ts';
import { Timer } from '../../timing/timer.ts';

/**
 * Aborts a run: at `maxRunMs`, after the grace of `close()`, if its worker gives it up, or if another process
 * has its event.
 */
export class Interruption {
  readonly #controller = new AbortController();
  #isAborted = false;
  #endReason: AbortedError | undefined;
  #limit: Timer | undefined;
  /** There are several, because a run whose handlers wait for keys waits for several promises at once. */
  readonly #listeners = new Set<(reason: AbortedError) => void>();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isAborted(): boolean {
    return this.#isAborted;
  }

  /**
   * Why the run no longer waits for its handlers. Undefined after a lost lease, which aborts only their
   * signal.
   */
  get endReason(): AbortedError | undefined {
    return this.#endReason;
  }

  /** Throws the reason if the run has been ended. */
  throwIfEnded(): void {
    if (this.#endReason !== undefined) throw this.#endReason;
  }

  /**
   * Ends the run after `maxRunMs`, unless {@link stopLimit} comes first. Does nothing if a limit runs
   * already.
   */
  startLimit(maxRunMs: number): void {
    this.#limit ??= new Timer(performance.now() + maxRunMs, () => {
      this.end(new AbortedError('run_timeout', `the handlers had not ended after maxRunMs (${maxRunMs})`));
    });
  }

  stopLimit(): void {
    this.#limit?.clear();
    this.#limit = undefined;
  }

  /** Settles as the promise does, or rejects as soon as the run is ended. */
  orAbort<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const stop = this.onEnd(reject);
      promise.then(
        (value) => {
          stop();
          resolve(value);
        },
        (error: unknown) => {
          stop();
          reject(error);
        },
      );
    });
  }

  /**
   * Calls the listener once the run is ended, at once if it is already. Returns a function that removes the
   * listener.
   */
  onEnd(listener: (reason: AbortedError) => void): () => void {
    if (this.#endReason === undefined) this.#listeners.add(listener);
    else listener(this.#endReason);
    return () => void this.#listeners.delete(listener);
  }

  /** Aborts the signal of the handlers. The run waits for them. */
  abort(reason: AbortedError): void {
    this.#isAborted = true;
    this.#controller.abort(reason);
  }

  /** Aborts the signal, and ends the run, whether or not its handlers react. */
  end(reason: AbortedError): void {
    this.abort(reason);
    if (this.#endReason !== undefined) return;
    this.#endReason = reason;
    for (const listener of this.#listeners) listener(reason);
  }
}
