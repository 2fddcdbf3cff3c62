import type { DeadLetters } from '../dead-letters/dead-letters.ts';
import { summariesOf } from '../dead-letters/summaries.ts';
import { DeadLetterError } from '../errors.ts';
import { mayHaveVanished } from '../timing/isolated-requests.ts';
import { performance } from '../timing/process-clock.ts';
import { settledWithin } from '../timing/time-limit.ts';
import { isInstance, messageOf } from '../values/foreign-values.ts';
import { type DeadLettersHealth, QUESTION_LIMIT_MS } from './health.ts';

/** The count ends after this many, because `list` reads each dead letter as a whole. */
const MOST_LETTERS = 1_000;

/** One more tells that there are more. */
const QUESTION = { limit: MOST_LETTERS + 1 };

/**
 * A count that took longer is reused for nine times as long, so that counting takes a tenth of the time at
 * most.
 */
const CHEAP_COUNT_MS = 50;
const REST_FACTOR = 9;

/**
 * Counts the waiting dead letters. All callers share one count at a time, even if it takes long: each
 * question to a disk that hangs blocks a thread of Node.js.
 */
export class LetterCount {
  readonly #deadLetters: DeadLetters;
  readonly #now: () => number;
  #counting: Count | undefined;
  #last: Count | undefined;

  constructor(deadLetters: DeadLetters, now: () => number) {
    this.#deadLetters = deadLetters;
    this.#now = now;
  }

  /** Never rejects. */
  async ask(): Promise<DeadLettersHealth> {
    if (this.#last?.isFresh) return this.#last.result;
    if (mayHaveVanished(this.#counting !== undefined)) this.#counting = undefined;
    this.#counting ??= this.#begin();
    return this.#counting.resultInTime();
  }

  #begin(): Count {
    const count = new Count(this.#deadLetters, this.#now);
    void count.ended.then(() => {
      this.#last = count;
      this.#counting = undefined;
    });
    return count;
  }
}

/** One pass over the dead letters. */
class Count {
  readonly #startedAt = performance.now();
  #freshUntil = 0;
  /**
   * The number of dead letters by their method `count`, which does not read them; one more than the limit at
   * most.
   */
  #total: number | undefined;
  #listed = 0;
  #waiting = 0;
  #oldestParkedAt: number | undefined;
  #isWhole = false;
  #error: DeadLetterError | undefined;
  /** Never rejects. */
  readonly ended: Promise<void>;

  constructor(deadLetters: DeadLetters, now: () => number) {
    this.ended = this.#run(deadLetters, now);
  }

  get isFresh(): boolean {
    return performance.now() < this.#freshUntil;
  }

  /** The result, or the part that is known at the time limit. */
  async resultInTime(): Promise<DeadLettersHealth> {
    await settledWithin(this.ended, Math.max(0, this.#endsAt - performance.now()));
    return this.result;
  }

  get result(): DeadLettersHealth {
    const known = this.#total !== undefined || this.#listed > 0 || this.#isWhole;
    const error = this.#error ?? (known ? undefined : this.#countTimeout());
    return {
      ok: error === undefined,
      waiting: known ? this.#waitingCount : undefined,
      more: !this.#isWhole && (this.#areMany || this.#total === undefined || error !== undefined),
      oldestParkedAt: this.#oldestParkedAt,
      error,
    };
  }

  /** Unread dead letters count as waiting, because few of them belong to running handlers. */
  get #waitingCount(): number {
    if (this.#areMany) return MOST_LETTERS;
    const isUnread = !this.#isWhole && this.#error === undefined;
    return this.#waiting + (isUnread ? Math.max(0, (this.#total ?? 0) - this.#listed) : 0);
  }

  get #areMany(): boolean {
    return !this.#isWhole && this.#total !== undefined && this.#total > MOST_LETTERS;
  }

  get #endsAt(): number {
    return this.#startedAt + QUESTION_LIMIT_MS;
  }

  async #run(deadLetters: DeadLetters, now: () => number): Promise<void> {
    try {
      await this.#count(deadLetters, now);
    } catch (cause) {
      this.#error = toDeadLetterError(cause);
    }
    const endedAt = performance.now();
    const tookMs = Math.min(endedAt - this.#startedAt, QUESTION_LIMIT_MS);
    // If nothing was read in time, there is nothing to reuse.
    if (this.#listed > 0 && tookMs > CHEAP_COUNT_MS) this.#freshUntil = endedAt + REST_FACTOR * tookMs;
  }

  async #count(deadLetters: DeadLetters, now: () => number): Promise<void> {
    this.#total = await countOf(deadLetters);
    for await (const { runningUntil, parkedAt } of summariesOf(deadLetters, QUESTION)) {
      const isLate = performance.now() > this.#endsAt;
      if (this.#listed === MOST_LETTERS || (isLate && !this.#areMany)) return;
      this.#listed += 1;
      if (runningUntil !== undefined && runningUntil > now()) continue;
      this.#waiting += 1;
      this.#oldestParkedAt ??= parkedAt;
      // Only the oldest dead letter was missing; the number is known.
      if (this.#areMany) return;
    }
    this.#isWhole = true;
  }

  #countTimeout(): DeadLetterError {
    const ms = Math.round(performance.now() - this.#startedAt);
    return new DeadLetterError('dead_letters_unavailable', `the dead letters have not answered for ${ms} ms`);
  }
}

function toDeadLetterError(cause: unknown): DeadLetterError {
  if (isInstance(cause, DeadLetterError)) return cause;
  const message = `the dead letters could not be counted: ${messageOf(cause)}`;
  return new DeadLetterError('dead_letters_unavailable', message, { cause });
}

/** Returns undefined if the dead letters cannot count, or return a value that is not a count. */
async function countOf(deadLetters: DeadLetters): Promise<number | undefined> {
  const count: unknown = await deadLetters.count?.(QUESTION);
  return typeof count === 'number' && count >= 0 ? count : undefined;
}
