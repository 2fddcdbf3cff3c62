import type { Answer } from '../outcomes/outcome.ts';
import { Timer } from '../timing/time-limit.ts';

/** The end of a run, for those who wait for it. */
export class Ending {
  #listeners: ((answer: Answer) => void)[] | undefined;
  #answer: Answer | undefined;
  #waiting = 0;

  /** Whether a delivery still waits. */
  get isAwaited(): boolean {
    return this.#waiting > 0;
  }

  settle(answer: Answer): void {
    this.#answer = answer;
    for (const listener of this.#listeners ?? []) listener(answer);
  }

  /** The end, however late. Waiting for it does not count as a delivery that waits. */
  reached(): Promise<Answer> {
    return new Promise((resolve) => this.#listen(resolve));
  }

  /**
   * Waits until `deadline`, by the monotonic clock, at most; resolves with what `conclude` makes of the end, or of undefined
   * when the deadline has passed.
   */
  wait<T>(deadline: number, conclude: (answer: Answer | undefined) => T): Promise<T> {
    this.#waiting += 1;
    return new Promise((resolve) => {
      let isOver = false;
      const timer = new Timer(deadline, () => {
        this.#waiting -= 1;
        isOver = true;
        resolve(conclude(undefined));
      });
      this.#listen((answer) => {
        if (isOver) return;
        timer.clear();
        resolve(conclude(answer));
      });
    });
  }

  #listen(listener: (answer: Answer) => void): void {
    if (this.#answer !== undefined) listener(this.#answer);
    // Nearly always there is one, for which a literal makes room; a first `push` makes room for 17.
    else if (this.#listeners === undefined) this.#listeners = [listener];
    else this.#listeners.push(listener);
  }
}
