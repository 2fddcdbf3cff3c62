import type { DeadLetterSummary, DeadLetters } from '../../receiver/dead-letters/dead-letters.ts';
import { summariesOf } from '../../receiver/dead-letters/summaries.ts';
import { isPosthornError } from '../../receiver/errors.ts';
import { pause, performance } from '../../receiver/timing/process-clock.ts';
import { messageOf } from '../../receiver/values/foreign-values.ts';

/** A store in this process may answer within one turn of the event loop, during which deliveries wait. */
const LETTERS_PER_TURN = 100;

/** Goes through dead letters, the oldest first, until the reader has enough or the time is over. */
export class LetterScan {
  readonly #deadLetters: DeadLetters;
  readonly #endsAt: number;
  readonly #limit: number | undefined;
  #after: string | undefined;
  #isWhole = false;
  /** Names a dead letter that cannot be read; undefined if there is none. */
  unreadable: string | undefined;

  /**
   * Begins after a dead letter, which may be gone. `endsAt` is a time of the monotonic clock. The reader
   * takes no more than `limit`.
   */
  constructor(deadLetters: DeadLetters, after: string | undefined, endsAt: number, limit?: number) {
    this.#deadLetters = deadLetters;
    this.#after = after;
    this.#endsAt = endsAt;
    this.#limit = limit;
  }

  /** The id after which the next scan begins; undefined if nothing is left. */
  get next(): { readonly after: string | undefined } | undefined {
    return this.#isWhole ? undefined : { after: this.#after };
  }

  /** A dead letter counts as read once the reader asks for the following one. */
  async *letters(): AsyncGenerator<DeadLetterSummary, void, undefined> {
    let count = 0;
    const place = { after: this.#after, limit: this.#limit };
    try {
      for await (const letter of summariesOf(this.#deadLetters, place)) {
        yield letter;
        this.#after = letter.id;
        if (performance.now() > this.#endsAt) return;
        count += 1;
        if (count % LETTERS_PER_TURN === 0) await pause(0);
      }
    } catch (error) {
      // The list reports a damaged dead letter at its end.
      if (!(isPosthornError(error) && error.code === 'dead_letter_unreadable')) throw error;
      this.unreadable = messageOf(error);
    }
    this.#isWhole = true;
  }
}
