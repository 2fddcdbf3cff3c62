import type { DeadLetterSummary, DeadLetters } from '../../receiver/dead-letters/dead-letters.ts';
import { summariesOf } from '../../receiver/dead-letters/summaries.ts';
import { isPosthornError } from '../../receiver/errors.ts';
import { pause } from '../../receiver/timing/process-clock.ts';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import { summaryOf } from './summary.ts';

/** The number of dead letters that are listed at once, unless the reader wants fewer. */
const USUAL_PORTION = 100;

/** A place in the order of dead letters. */
export interface ScanPlace {
  /** The id of the dead letter after which a scan begins; it may be gone. */
  readonly after?: string | undefined;
  /** The time at which it was parked, if that is known. The store may have forgotten its place. */
  readonly parkedAt?: number | undefined;
}

interface ScanOptions extends ScanPlace {
  /** Returns true once the scan has to end. */
  readonly isOver: () => boolean;
  /** The number of dead letters that are listed at once. */
  readonly portion?: number | undefined;
}

/** Goes through dead letters, the oldest first, until the reader has enough or the time is over. */
export class LetterScan {
  readonly #deadLetters: DeadLetters;
  readonly #isOver: () => boolean;
  readonly #portion: number;
  #after: string | undefined;
  #parkedAt: number | undefined;
  #isWhole = false;
  /** Names a dead letter that cannot be read; undefined if there is none. */
  unreadable: string | undefined;

  constructor(deadLetters: DeadLetters, { after, isOver, parkedAt, portion = USUAL_PORTION }: ScanOptions) {
    this.#deadLetters = deadLetters;
    this.#after = after;
    this.#parkedAt = parkedAt;
    this.#isOver = isOver;
    this.#portion = portion;
  }

  /** The place at which the next scan begins: that of the last dead letter; undefined if none is left. */
  get next(): ScanPlace | undefined {
    return this.#isWhole ? undefined : { after: this.#after, parkedAt: this.#parkedAt };
  }

  /** A dead letter counts as read once the reader asks for the following one. */
  async *letters(): AsyncGenerator<DeadLetterSummary, void, undefined> {
    while (!this.#isOver()) {
      const { listed, isLast } = await this.#list();
      for (const letter of listed) {
        const { id, parkedAt } = letter;
        // A store that has forgotten the place begins with the first one again.
        const isAhead = parkedAt >= (this.#parkedAt ?? parkedAt);
        if (isAhead) yield letter;
        this.#after = id;
        if (isAhead) this.#parkedAt = parkedAt;
      }
      this.#isWhole = isLast;
      if (isLast) return;
      // A store in this process may answer within one turn of the event loop, during which deliveries wait.
      await pause(0);
    }
  }

  /** Reads a list to its end: only there it reports the damaged dead letters that it has passed over. */
  async #list(): Promise<{ readonly listed: readonly DeadLetterSummary[]; readonly isLast: boolean }> {
    const listed: DeadLetterSummary[] = [];
    const place = { after: this.#after, limit: this.#portion };
    try {
      for await (const letter of summariesOf(this.#deadLetters, place)) {
        listed.push(summaryOf(letter));
        if (this.#isOver()) return { listed, isLast: false };
      }
    } catch (error) {
      if (!(isPosthornError(error) && error.code === 'dead_letter_unreadable')) throw error;
      this.unreadable ??= messageOf(error);
    }
    return { listed, isLast: listed.length < this.#portion };
  }
}
