import type { ClaimedResult } from '../dedupe/store.ts';
import { AbortedError } from '../errors.ts';
import type { Warning } from '../outcomes/report.ts';
import { LetterHandle } from './event-letter.ts';
import { noteHandled, type Progress } from './handlers.ts';
import { removeIfCompleted } from './remove-if-completed.ts';
import type { RunInput } from './run-input.ts';
import type { RunServices } from './run-services.ts';

/** How a letter is stored. */
export interface LetterStoring {
  /** The number of the attempt, if the event was claimed. */
  readonly attempt: number | undefined;
  /** Whether the handlers may be running from now on. */
  readonly mayRun: boolean;
  /** Given if the caller waits for nothing else. */
  readonly answerBy?: number;
}

/** The dead letter of a run's event: stored before a last attempt, after a failure, or beside the run. */
export class RunLetter {
  readonly #input: RunInput;
  readonly #services: RunServices;
  readonly #progress: Progress;
  readonly #warnings: Warning[];
  #created: LetterHandle | undefined;

  constructor(input: RunInput, services: RunServices, progress: Progress, warnings: Warning[]) {
    this.#input = input;
    this.#services = services;
    this.#progress = progress;
    this.#warnings = warnings;
  }

  /** Few runs have a letter, so its handle is created when it is first needed. */
  get #handle(): LetterHandle {
    const { id, event, origin, deadline, rawBody, headers, receivedAt } = this.#input;
    this.#created ??= new LetterHandle(
      this.#services.letters,
      { rawBody, headers, receivedAt, id, type: event.type, parkedAt: origin.letter?.parkedAt },
      deadline,
      this.#warnings,
      { storedAs: origin.letter?.id, removesLetter: origin.removesLetter },
    );
    return this.#created;
  }

  /** The id that it is stored under, once it is. */
  get storedAs(): string | undefined {
    return this.#handle.storedAs;
  }

  /** True once writing it has begun. */
  get isBegun(): boolean {
    return this.#created?.isBegun ?? false;
  }

  /** True if it may be stored. */
  get mayExist(): boolean {
    if (this.#services.letters === undefined) return false;
    return this.#input.origin.mayBeParked || this.#created?.mayExist === true;
  }

  /**
   * Stores the letter before the handlers of a last attempt run, so that even a crash loses nothing. An event
   * whose earlier attempts never ended may be what kills the process: then it resolves with the reason why
   * the event is parked, and is not to be run.
   */
  async storeBeforeRun(claim: ClaimedResult, attempt: number | undefined): Promise<AbortedError | undefined> {
    const { deadline, origin, routes } = this.#input;
    const answerBy = deadline.handlersBeginBy;
    const earlier = origin.letter ?? (await this.#handle.find(answerBy));
    noteHandled(this.#progress, earlier?.handled ?? []);
    const dead = {
      leaseRanOut: claim.abandoned > 0,
      letterWasRunning: earlier?.reason === 'run_abandoned' && earlier.runningUntil !== undefined,
    };
    const mayRun = origin.runsAfter(dead, routes.length > 0);
    const reason = new AbortedError('run_abandoned', 'the process ended while the handlers were running');
    const storedAs = await this.store(reason, { attempt, mayRun, answerBy });
    return mayRun || storedAs === undefined ? undefined : reason;
  }

  /** Stores it, or stores it anew, and resolves with the id that it is stored under, if it is. */
  store(
    reason: { readonly code: string; readonly message: string },
    { attempt = 0, mayRun, answerBy }: LetterStoring,
  ): Promise<string | undefined> {
    const { now, maxRunMs } = this.#services.settings;
    const runningUntil = mayRun ? now() + maxRunMs : undefined;
    const attemptInfo = { attempts: attempt, handled: this.#progress.handled, runningUntil };
    return this.#handle.store(reason, attemptInfo, answerBy);
  }

  /**
   * Removes it if this run may have left it, because another run has completed the event. If that run has
   * only enqueued it, the workers may have handled it before the letter was stored.
   */
  async remove(): Promise<void> {
    if (!this.mayExist) return;
    if (this.#input.origin.removesLetter) await this.#handle.removeAny();
    else await this.removeIfCompleted();
  }

  /** The same, also for the letter of an earlier delivery. */
  async removeAny(): Promise<void> {
    if (this.#services.letters !== undefined) await this.#handle.removeAny();
  }

  /** Removes it if another run has completed the event. */
  removeIfCompleted(): Promise<void> {
    return removeIfCompleted(this.#handle, this.#input, this.#services);
  }
}
