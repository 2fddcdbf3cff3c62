import type { Answer } from './outcome.ts';
import { Timer } from './time-limit.ts';

/** The end of a run, for those who wait for it. */
export class Ending {
  readonly #listeners: ((answer: Answer) => void)[] = [];
  #answer: Answer | undefined;
  #waiting = 0;

  /** Whether a delivery still waits. */
  get isAwaited(): boolean {
    return this.#waiting > 0;
  }

  settle(answer: Answer): void {
    this.#answer = answer;
    for (const listener of this.#listeners) listener(answer);
  }

  /** The end, however late. Waiting for it does not count as a delivery that waits. */
  reached(): Promise<Answer> {
    return new Promise((resolve) => this.#listen(resolve));
  }

  /** Waits until `deadline`, by the monotonic clock, at most; undefined when that has passed. */
  wait(deadline: number): Promise<Answer | undefined> {
    this.#waiting += 1;
    return new Promise((resolve) => {
      const timer = new Timer(deadline, () => {
        this.#waiting -= 1;
        resolve(undefined);
      });
      this.#listen((answer) => {
        timer.clear();
        resolve(answer);
      });
    });
  }

  #listen(listener: (answer: Answer) => void): void {
    if (this.#answer === undefined) this.#listeners.push(listener);
    else listener(this.#answer);
  }
}
