import type { DeadLetter } from '../dead-letters/dead-letters.ts';
import type { AttemptInfo, LetterContent, LetterOperations } from '../dead-letters/letter-operations.ts';
import type { OperationWait } from '../dead-letters/operation-queue.ts';
import { messageOf } from '../foreign-values.ts';
import type { Warning } from '../outcomes/report.ts';
import type { Deadline } from '../timing/deadline.ts';

/** The facts about a letter that are known from the start. */
export interface LetterOrigin {
  /** The id that the letter is stored under, if it is stored already. */
  readonly storedAs?: string | undefined;
  /**
   * False if this run must not remove the letter: workers handle the event, and one of them may have stored
   * the letter meanwhile.
   */
  readonly removesLetter?: boolean;
}

/** The dead letter of one event while a delivery is being handled. Failures become warnings. */
export class LetterHandle {
  readonly #operations: LetterOperations | undefined;
  readonly #content: LetterContent;
  readonly #deadline: Deadline;
  readonly #warnings: Warning[];
  readonly #removesLetter: boolean;
  #storedAs: string | undefined;
  #isBegun = false;

  constructor(
    operations: LetterOperations | undefined,
    content: LetterContent,
    deadline: Deadline,
    warnings: Warning[],
    { storedAs, removesLetter = true }: LetterOrigin = {},
  ) {
    this.#operations = operations;
    this.#content = content;
    this.#deadline = deadline;
    this.#warnings = warnings;
    this.#storedAs = operations && storedAs;
    this.#removesLetter = removesLetter;
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
   * Stores the letter, or replaces it. Resolves with the id that it is stored under, or with undefined if
   * none is stored. If it could not be replaced, the earlier letter counts. `answerBy` is given if the caller
   * waits only for this.
   */
  async store(
    reason: { readonly code: string; readonly message: string },
    attemptInfo: AttemptInfo,
    answerBy?: number,
  ): Promise<string | undefined> {
    if (this.#operations === undefined) return undefined;
    this.#isBegun = true;
    try {
      this.#storedAs = await this.#operations.store(this.#content, attemptInfo, reason, this.#wait(answerBy));
    } catch (error) {
      this.#warnings.push(`dead_letter_not_stored: ${messageOf(error)}`);
    }
    return this.#storedAs;
  }

  /** Reads the letter of an earlier delivery, if there is one. */
  async find(answerBy: number): Promise<DeadLetter | undefined> {
    const { id } = this.#content;
    if (id === undefined) return undefined;
    try {
      const letter = await this.#operations?.find(id, this.#wait(answerBy));
      if (letter !== undefined) this.#storedAs = id;
      return letter;
    } catch (error) {
      this.#warnings.push(`dead_letter_not_read: ${messageOf(error)}`);
      return undefined;
    }
  }

  /** Removes the letter, also one whose writing was given up, or that an earlier delivery left. */
  async removeAny(): Promise<void> {
    if (this.#removesLetter) await this.removeStored();
  }

  /** Removes the letter, even one of an event that workers handle. */
  async removeStored(): Promise<void> {
    const id = this.#storedAs ?? this.#content.id;
    if (id === undefined) return;
    try {
      await this.#operations?.remove(id, this.#inBackground);
    } catch (error) {
      this.#warnings.push(`dead_letter_not_removed: ${messageOf(error)}`);
    }
  }

  /**
   * A new letter is urgent: without it the delivery fails at its deadline. A letter that is replaced, or
   * written after the deadline, is not urgent: no delivery waits for it.
   */
  #wait(answerBy?: number): OperationWait {
    const isNew = this.#storedAs === undefined;
    const bodyBytes = this.#content.rawBody.byteLength;
    if (answerBy !== undefined) return { answerBy, isUrgent: isNew, bodyBytes };
    if (isNew && !this.#deadline.isPast)
      return { answerBy: this.#deadline.letterBy, isUrgent: true, bodyBytes };
    return this.#inBackground;
  }

  get #inBackground(): OperationWait {
    const bodyBytes = this.#content.rawBody.byteLength;
    return { answerBy: this.#deadline.backgroundBy, isUrgent: false, bodyBytes };
  }
}
