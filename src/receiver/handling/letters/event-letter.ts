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

/** The parts of an event that a claim needs. */
interface LetterEvent {
  readonly key: string;
  readonly createdAtMs?: number | undefined;
}

/** The dead letter of one event that is being handled or refused. Failures become warnings. */
export class EventLetter {
  readonly #operations: LetterOperations;
  readonly #content: LetterContent;
  readonly #deadline: Deadline;
  readonly #warnings: Warning[];
  #storedAs: string | undefined;
  #known: LetterKnowledge;

  /** `storedAs` is the id of the dead letter, if it is stored already. */
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

  /** The id of the dead letter, once it is stored. */
  get storedAs(): string | undefined {
    return this.#storedAs;
  }

  /** See {@link LetterKnowledge}. */
  get known(): LetterKnowledge {
    return this.#known;
  }

  /** Reads the dead letter of an earlier delivery, if there is one. */
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
   * Stores the dead letter, or replaces it. Resolves with its id, or with undefined if none is stored. If it
   * could not be replaced, the earlier dead letter counts. Without `answerBy`, the deadline of the delivery
   * decides how long this may take.
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

  /** Removes the dead letter, even if its writing was given up, or if an earlier delivery left it. */
  async remove(): Promise<void> {
    const id = this.#storedAs ?? this.#operations.idOf(this.#content.event);
    if (id === undefined) return;
    try {
      await this.#operations.remove(id, this.#inBackground);
    } catch (error) {
      this.#warnings.push(`dead_letter_not_removed: ${messageOf(error)}`);
    }
  }

  /** Removes the dead letter if the event is completed by now: handled, not only enqueued. */
  async removeIfCompleted({ key, createdAtMs }: LetterEvent, services: ClaimServices): Promise<void> {
    // A dead letter that is written late must not appear after its removal. But a write may never end.
    await settledWithin(this.#operations.ended(key), this.#deadline.limitMs);
    const handling = claimedId({ claimId: handlingId(key), createdAtMs }, services.settings);
    // If the store fails, the dead letter stays. Its replay will find the id completed, and remove it.
    if (await isCompleted(handling, services)) await this.remove();
  }

  /**
   * Removes the dead letter if the event was completed while the dead letter was written. Does nothing if the
   * writing ended before the claim was released: no other process had the event until then. Waits for a
   * release that is being repeated.
   */
  async removeIfCompletedMeanwhile(
    { state, late }: Released,
    event: LetterEvent,
    services: ClaimServices,
  ): Promise<void> {
    const isLate = this.#operations.isPending(event.key);
    const isReleased = (state ?? (await late)) === 'released';
    if (isLate || !isReleased) await this.removeIfCompleted(event, services);
  }

  /**
   * A new dead letter is urgent, because without it the delivery fails at its deadline. After the deadline,
   * or if it only replaces another, no delivery waits for it.
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
