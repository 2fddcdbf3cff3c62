import type { DeadLetter } from '../../dead-letters/dead-letters.ts';
import type { LetterOperations } from '../../dead-letters/letter-operations.ts';
import { newerForm } from '../../dead-letters/newer-form.ts';
import type { OperationWait } from '../../dead-letters/operation-queue.ts';
import { ConfigurationError } from '../../errors.ts';
import { checkSender } from '../../provider/event-identity.ts';
import type { Settings } from '../../settings.ts';
import { performance } from '../../timing/process-clock.ts';
import { propertyOf, show } from '../../values/foreign-values.ts';

/** The services for work on a dead letter. */
interface LetterServices {
  readonly settings: Pick<Settings, 'now' | 'deadlineMs' | 'provider'>;
  /** Undefined without dead letters. */
  readonly letters: LetterOperations | undefined;
}

/** A dead letter that is being replayed or dropped. No sender waits for its operations. */
export class ParkedLetter {
  readonly letter: DeadLetter;
  readonly #services: LetterServices;

  /**
   * Throws {@link ConfigurationError} for a value that this version cannot read as a dead letter, and
   * UnavailableError for one of another provider.
   */
  constructor(letter: DeadLetter, services: LetterServices, functionName: string) {
    checkLetter(letter, functionName);
    checkSender(letter, services.settings.provider, 'the dead letter');
    this.letter = letter;
    this.#services = services;
  }

  /** True if the dead letter says that the handlers of its event may still be running. */
  get isRunning(): boolean {
    return this.#isRunning(this.letter);
  }

  /**
   * Reads the dead letter again. Resolves with false if it is gone, or if its event may be running by now.
   */
  async isStillParked(): Promise<boolean> {
    const stored = await this.#services.letters?.find(this.letter.id, this.#wait());
    return stored !== undefined && !this.#isRunning(stored);
  }

  async remove(): Promise<void> {
    await this.#services.letters?.remove(this.letter.id, this.#wait());
  }

  #isRunning({ runningUntil }: DeadLetter): boolean {
    return runningUntil !== undefined && runningUntil > this.#services.settings.now();
  }

  #wait(): OperationWait {
    const answerBy = performance.now() + this.#services.settings.deadlineMs;
    // The bytes are 0, because the caller has the body in memory in any case.
    return { answerBy, isUrgent: false, bodyBytes: 0 };
  }
}

/**
 * The value may come from `deadLetters.get`, which resolves with undefined if another caller was faster, and
 * dead letters of the application's own may hand over what a later version of posthorn has put.
 */
function checkLetter(letter: unknown, functionName: string): void {
  const newer = newerForm(letter);
  if (newer !== undefined)
    throw new ConfigurationError(
      `${functionName} cannot read the dead letter ${show(propertyOf(letter, 'id'))}: ${newer}`,
    );
  if (typeof letter === 'object' && letter !== null) return;
  throw new ConfigurationError(
    `${functionName} takes a dead letter, got ${show(letter)}: if deadLetters.get() found none, it was replayed or dropped`,
  );
}
