import type { DeadLetter } from '../dead-letters/dead-letters.ts';
import type { Wait } from '../dead-letters/line.ts';
import type { EventHandling } from './event-handling.ts';

/** A letter that somebody replays or drops. No sender waits for its operations. */
export class ParkedLetter {
  readonly letter: DeadLetter;
  readonly #handling: EventHandling;

  constructor(letter: DeadLetter, handling: EventHandling) {
    this.letter = letter;
    this.#handling = handling;
  }

  /** True if the letter says that the handlers of its event may still be running. */
  get isRunning(): boolean {
    return this.#isRunning(this.letter);
  }

  /** Reads the letter again; false if it is gone, or if its event may be running by now. */
  async isStillParked(): Promise<boolean> {
    const stored = await this.#handling.parking?.find(this.letter.id, this.#wait());
    return stored !== undefined && !this.#isRunning(stored);
  }

  async takeOut(): Promise<void> {
    await this.#handling.parking?.remove(this.letter.id, this.#wait());
  }

  #isRunning({ runningUntil }: DeadLetter): boolean {
    return runningUntil !== undefined && runningUntil > this.#handling.settings.now();
  }

  #wait(): Wait {
    const answerBy = performance.now() + this.#handling.settings.deadlineMs;
    // The caller holds the letter in any case.
    return { answerBy, isUrgent: false, bodyBytes: 0 };
  }
}
