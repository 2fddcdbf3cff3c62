import { randomUUID } from 'node:crypto';
import type { ClaimSettings } from '../dedupe/claim.ts';
import { handlingId } from '../dedupe/claim-id.ts';
import { attemptSpacingMs } from '../dedupe/last-attempt.ts';
import type { TimeLimitedStore } from '../dedupe/time-limited.ts';
import { messageOf } from '../foreign-values.ts';
import type { Warning } from '../outcomes/report.ts';
import type { DeadLetter } from './dead-letters.ts';
import type { Wait } from './line.ts';
import { type AttemptInfo, type LetterContent, type Parking, parkingLimitMs } from './parking.ts';

/** The time limits of the operations on a letter. */
export interface LetterTimes {
  /** Of the delivery, by the monotonic clock. */
  readonly deadline: number;
  readonly deadlineMs: number;
}

/** What is known of a letter from the start. */
export interface LetterOrigin {
  /** What the letter is stored under, where it is there already. */
  readonly storedAs?: string | undefined;
  /**
   * The letter is not this run's to remove: workers handle the event, and one of them may have stored it
   * meanwhile.
   */
  readonly isKept?: boolean;
}

/** The dead letter of one event while a delivery is being handled. What fails here becomes a warning. */
export class Letter {
  readonly #parking: Parking | undefined;
  readonly #content: LetterContent;
  readonly #warnings: Warning[];
  readonly #times: LetterTimes;
  readonly #isKept: boolean;
  #storedAs: string | undefined;
  #isBegun = false;

  constructor(
    parking: Parking | undefined,
    content: LetterContent,
    warnings: Warning[],
    times: LetterTimes,
    { storedAs, isKept = false }: LetterOrigin = {},
  ) {
    this.#parking = parking;
    this.#content = content;
    this.#warnings = warnings;
    this.#times = times;
    this.#storedAs = parking && storedAs;
    this.#isKept = isKept;
  }

  /** The id that the letter is stored under, once it is. */
  get storedAs(): string | undefined {
    return this.#storedAs;
  }

  /** True once writing the letter has begun: it may be stored, or will be. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  /** True if this delivery may have left a letter that is still stored. */
  get mayExist(): boolean {
    return this.#isBegun || this.#storedAs !== undefined;
  }

  /**
   * Until when handlers wait: for the letter of a last attempt, or for room. A sixth of the time is theirs,
   * besides what is kept for parking; and where the delivery has waited for another process first, the letter
   * still has the time of one operation.
   */
  get handlersWaitUntil(): number {
    const { deadline, deadlineMs } = this.#times;
    const limitMs = parkingLimitMs(deadlineMs);
    return Math.max(deadline - limitMs - deadlineMs / 6, performance.now() + limitMs);
  }

  /**
   * Stores the letter, or stores it anew, and returns what it is stored under; undefined where none is
   * stored. A letter that could not be renewed still counts. `answerBy` is given where somebody waits for it
   * by itself.
   */
  async store(
    reason: { readonly code: string; readonly message: string },
    attemptInfo: AttemptInfo,
    answerBy?: number,
  ): Promise<string | undefined> {
    if (this.#parking === undefined) return undefined;
    this.#isBegun = true;
    try {
      this.#storedAs = await this.#parking.store(this.#content, attemptInfo, reason, this.#wait(answerBy));
    } catch (error) {
      this.#warnings.push(`dead_letter_not_stored: ${messageOf(error)}`);
    }
    return this.#storedAs;
  }

  /** The letter of an earlier delivery. */
  async find(answerBy: number): Promise<DeadLetter | undefined> {
    const { id } = this.#content;
    if (id === undefined) return undefined;
    try {
      const letter = await this.#parking?.find(id, this.#wait(answerBy));
      if (letter !== undefined) this.#storedAs = id;
      return letter;
    } catch (error) {
      this.#warnings.push(`dead_letter_not_read: ${messageOf(error)}`);
      return undefined;
    }
  }

  /**
   * Takes the letter out: its event was handled. A letter whose writing was given up may have arrived all the
   * same.
   */
  async remove(): Promise<void> {
    if (this.mayExist) await this.removeAny();
  }

  /** The same, also for a letter that an earlier delivery left. */
  async removeAny(): Promise<void> {
    if (!this.#isKept) await this.#takeOut();
  }

  async #takeOut(): Promise<void> {
    const id = this.#storedAs ?? this.#content.id;
    if (id === undefined) return;
    try {
      await this.#parking?.remove(id, {
        answerBy: performance.now() + this.#times.deadlineMs,
        isUrgent: false,
        bodyBytes: this.#content.rawBody.byteLength,
      });
    } catch (error) {
      this.#warnings.push(`dead_letter_not_removed: ${messageOf(error)}`);
    }
  }

  /**
   * A new letter is urgent: without it the delivery fails at its deadline. A renewed letter, or one written
   * after the deadline, is not: nobody waits for it.
   */
  #wait(answerBy?: number): Wait {
    const { deadline, deadlineMs } = this.#times;
    const now = performance.now();
    const isNew = this.#storedAs === undefined;
    const bodyBytes = this.#content.rawBody.byteLength;
    if (answerBy !== undefined) return { answerBy, isUrgent: isNew, bodyBytes };
    if (isNew && now < deadline)
      return { answerBy: Math.max(deadline, now + parkingLimitMs(deadlineMs)), isUrgent: true, bodyBytes };
    return { answerBy: now + deadlineMs, isUrgent: false, bodyBytes };
  }

  /**
   * Reads the id again after a letter was stored beside a run that may belong to another delivery, and takes
   * the letter out if that run completed. A claim is the way to read; one that succeeds is given back.
   */
  async reconcile(
    store: TimeLimitedStore,
    { leaseMs, retentionMs, retryScheduleMs }: ClaimSettings,
  ): Promise<void> {
    if (this.#content.id === undefined) return;
    const id = handlingId(this.#content.id);
    const token = randomUUID();
    try {
      const request = {
        id,
        token,
        leaseMs,
        retentionMs,
        attemptSpacingMs: attemptSpacingMs(retryScheduleMs),
      };
      const claim = await store.claim(request);
      if (claim.state === 'completed' && this.mayExist) await this.#takeOut();
      if (claim.state === 'claimed') await store.release({ id, token, retentionMs, handled: claim.handled });
    } catch {
      // The store failed. The letter stays, and its replay will find the id completed.
      try {
        await store.release({ id, token, retentionMs, handled: [] });
      } catch {
        // The claim ends with its lease.
      }
    }
  }
}
