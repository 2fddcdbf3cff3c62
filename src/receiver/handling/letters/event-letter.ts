import type { DeadLetter } from '../../dead-letters/dead-letters.ts';
import type {
  AttemptInfo,
  LetterContent,
  LetterOperations,
  LetterReason,
} from '../../dead-letters/letter-operations.ts';
import type { OperationWait } from '../../dead-letters/operation-queue.ts';
import { type ClaimServices, claimedId, type Released } from '../../dedupe/claim.ts';
import { handlingId } from '../../dedupe/claim-id.ts';
import { isCompleted } from '../../dedupe/is-completed.ts';
import type { Warning } from '../../outcomes/report.ts';
import type { Deadline } from '../../timing/deadline.ts';
import { settledWithin } from '../../timing/time-limit.ts';
import { messageOf } from '../../values/foreign-values.ts';
import type { LetterKnowledge } from './letter-rules.ts';

/** The event of a letter, as its claim needs it. */
interface LetterEvent {
  readonly id: string;
  readonly createdAt: number;
}

/** The dead letter of one event while a delivery of it is being handled. Failures become warnings. */
export class EventLetter {
  readonly #operations: LetterOperations;
  readonly #content: LetterContent;
  readonly #deadline: Deadline;
  readonly #warnings: Warning[];
  #storedAs: string | undefined;
  #known: LetterKnowledge;

  /** `storedAs` is the id that the letter is stored under, if it is stored already. */
  constructor(
    operations: LetterOperations,
    content: LetterContent,
    deadline: Deadline,
    warnings: Warning[],
    storedAs?: string,
  ) {
    this.#operations = operations;
    this.#content = content;
    this.#deadline = deadline;
    this.#warnings = warnings;
    this.#storedAs = storedAs;
    this.#known = storedAs === undefined ? 'none' : 'found';
  }

  /** The id that the letter is stored under, once it is. */
  get storedAs(): string | undefined {
    return this.#storedAs;
  }

  /** See {@link LetterKnowledge}. */
  get known(): LetterKnowledge {
    return this.#known;
  }

  /** Reads the letter of an earlier delivery, if there is one. */
  async find(id: string, answerBy: number): Promise<DeadLetter | undefined> {
    try {
      const letter = await this.#operations.find(id, this.#wait(answerBy));
      if (letter !== undefined) this.#keepFound(id);
      return letter;
    } catch (error) {
      this.#warnings.push(`dead_letter_not_read: ${messageOf(error)}`);
      return undefined;
    }
  }

  /**
   * Stores the letter, or replaces it. Resolves with the id that it is stored under, or with undefined if
   * none is stored. If it could not be replaced, the earlier letter counts. `answerBy` is given if the caller
   * waits only for this.
   */
  async store(reason: LetterReason, attempt: AttemptInfo, answerBy?: number): Promise<string | undefined> {
    this.#known = 'writing';
    try {
      this.#storedAs = await this.#operations.store(this.#content, attempt, reason, this.#wait(answerBy));
      this.#known = 'written';
    } catch (error) {
      this.#known = 'failed';
      this.#warnings.push(`dead_letter_not_stored: ${messageOf(error)}`);
    }
    return this.#storedAs;
  }

  #keepFound(id: string): void {
    this.#storedAs = id;
    if (this.#known === 'none') this.#known = 'found';
  }

  /** Removes the letter, also one whose writing was given up, or that an earlier delivery left. */
  async remove(): Promise<void> {
    const id = this.#storedAs ?? this.#content.id;
    if (id === undefined) return;
    try {
      await this.#operations.remove(id, this.#inBackground);
    } catch (error) {
      this.#warnings.push(`dead_letter_not_removed: ${messageOf(error)}`);
    }
  }

  /** Removes the letter if the event is completed by now: handled, not only enqueued. */
  async removeIfCompleted({ id, createdAt }: LetterEvent, services: ClaimServices): Promise<void> {
    // A letter that is written late must not appear after its removal. A write may never end.
    await settledWithin(this.#operations.ended(id), this.#deadline.limitMs);
    const handling = claimedId({ claimId: handlingId(id), createdAt }, services.settings);
    // Without an answer the letter stays: its replay will find the id.
    if (await isCompleted(handling, services)) await this.remove();
  }

  /**
   * Removes the letter if the event was completed while it was written, unless that ended before the claim
   * was released. The store may answer the release late.
   */
  async removeUnlessReleased(
    { state, late }: Released,
    event: LetterEvent,
    services: ClaimServices,
  ): Promise<void> {
    const isLate = this.#operations.isPending(event.id);
    const isReleased = (state ?? (await late)) === 'released';
    if (isLate || !isReleased) await this.removeIfCompleted(event, services);
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
