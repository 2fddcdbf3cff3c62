import type { Answer } from '../../outcomes/outcome.ts';
import { Timer } from '../../timing/timer.ts';

/** The answer that a run will end with, for the deliveries that wait for it. */
export class PendingAnswer {
  readonly #listeners: ((answer: Answer) => void)[] = [];
  #answer: Answer | undefined;
  #waiting = 0;

  /** True if a delivery still waits. */
  get isAwaited(): boolean {
    return this.#waiting > 0;
  }

  settle(answer: Answer): void {
    this.#answer = answer;
    for (const listener of this.#listeners.splice(0)) listener(answer);
  }

  /** Resolves with the answer, however late. The caller does not count as a waiting delivery. */
  settled(): Promise<Answer> {
    return new Promise((resolve) => this.#listen(resolve));
  }

  /** Resolves with the answer, or with undefined at `deadline` (of the monotonic clock). */
  settledBy(deadline: number): Promise<Answer | undefined> {
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
