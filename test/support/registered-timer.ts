import { performance } from '../../src/receiver/timing/process-clock.ts';
import { Timer as RealTimer } from '../../src/receiver/timing/timer.ts';
import { type PendingOperation, tests } from './running-test.ts';

/**
 * Stands for the timer of the sources in tests (see `vitest.config.ts`). Until it is cleared or has fired,
 * its operation counts as pending in the test that began it.
 */
export class Timer extends RealTimer {
  readonly #pending = tests.getStore()?.pending;
  #operation: PendingOperation | undefined;

  constructor(...[dueAt, onDue, options]: ConstructorParameters<typeof RealTimer>) {
    const fire = (): void => {
      this.#end();
      onDue();
    };
    super(dueAt, fire, options);
    this.#begin(dueAt);
  }

  override postpone(dueAt: number): void {
    this.#begin(dueAt);
    super.postpone(dueAt);
  }

  override clear(): void {
    this.#end();
    super.clear();
  }

  #begin(dueAt: number): void {
    if (this.#pending === undefined) return;
    this.#operation = { limitMs: Math.round(dueAt - performance.now()), begun: new Error() };
    this.#pending.add(this.#operation);
  }

  #end(): void {
    if (this.#operation !== undefined) this.#pending?.delete(this.#operation);
  }
}
