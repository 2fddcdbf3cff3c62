import type { AbortedError } from './errors.ts';

/** What may come upon a run from outside. */
export class Interruption {
  readonly #controller = new AbortController();
  #resolve: (reason: AbortedError) => void = () => {};
  #reason: AbortedError | undefined;
  /** Resolves when the run is ended; a lost lease leaves it to its handlers. */
  readonly ended: Promise<AbortedError> = new Promise((resolve) => {
    this.#resolve = resolve;
  });

  /** The handlers' signal. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why the run was ended, if it was. */
  get reason(): AbortedError | undefined {
    return this.#reason;
  }

  /** Aborts the signal. All but a lost lease also ends the run, whether or not the handlers heed it. */
  abort(reason: AbortedError): void {
    this.#controller.abort(reason);
    if (reason.code === 'lease_lost') return;
    this.#reason ??= reason;
    this.#resolve(reason);
  }
}
