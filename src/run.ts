import { Claim, UNCLAIMED } from './claim.ts';
import { Ending } from './ending.ts';
import { AbortedError, messageOf, type PosthornError, UnavailableError } from './errors.ts';
import { noteHandled, type Progress, RunContext, runHandlers } from './handlers.ts';
import { Interruption } from './interruption.ts';
import type { Job, RunServices } from './job.ts';
import { isFinal, isFinalByAge } from './last-attempt.ts';
import { Letter } from './letter.ts';
import { isPending, type MaybePromise } from './maybe-promise.ts';
import { type Accepted, type Answer, accept, refuse } from './outcome.ts';
import type { Postmark } from './parking.ts';
import type { Warning } from './report.ts';
import type { ClaimedResult, ClaimResult } from './stores/store.ts';
import { Timer } from './time-limit.ts';

/**
 * One event on its way through claim, handlers and record. Deliveries of the event that arrive meanwhile join it. It
 * outlives the deadline of its delivery.
 */
export class Run {
  readonly progress: Progress = { handled: [], reports: [] };
  readonly warnings: Warning[] = [];
  readonly ending: Ending = new Ending();
  /** The number of the attempt, once the handlers are about to run. */
  attempt: number | undefined = undefined;
  final = false;

  readonly #job: Job;
  readonly #services: RunServices;
  readonly #onEnd: (run: Run) => void;
  readonly #claim: Claim;
  readonly #interruption = new Interruption();
  #letterIfMade: Letter | undefined;
  #phase: 'claiming' | 'waiting' | 'running' | 'recording' = 'claiming';
  /** What to answer if the deadline comes now, where the phase does not say it. */
  #provisional: Answer | undefined;
  #overrun: Timer | undefined;
  #isRecorded = false;

  constructor(job: Job, services: RunServices, onEnd: (run: Run) => void) {
    this.#job = job;
    this.#services = services;
    this.#onEnd = onEnd;
    this.#claim = new Claim(job, services, this.warnings);
  }

  get id(): string {
    return this.#job.id;
  }

  /** Whether handlers are running. */
  get isRunning(): boolean {
    return this.#phase === 'running';
  }

  /** Never rejects. */
  async start(): Promise<void> {
    let answer: Answer;
    try {
      let claim: ClaimResult;
      try {
        const claiming = this.#claim.take();
        claim = isPending(claiming) ? await claiming : claiming;
      } catch (error) {
        claim = this.#proceedUnclaimed(error);
      }
      if (claim.state === 'busy') claim = await this.#takeFromTwin(claim);
      const preparing = claim.state === 'claimed' ? this.#prepare(claim) : this.#answerUnclaimed(claim.state);
      const known = isPending(preparing) ? await preparing : preparing;
      const { ending } = this.#interruption;
      if (known !== undefined) answer = known;
      else if (ending !== undefined) answer = await this.#recordFailure(ending);
      else {
        const finished = this.#runHandlers(claim !== UNCLAIMED);
        const end = await this.#interruption.orEnd(finished);
        this.#overrun?.clear();
        const recording = end === undefined ? this.#recordSuccess() : this.#recordEnd(end, finished);
        answer = isPending(recording) ? await recording : recording;
      }
    } catch (error) {
      answer = refuse(error);
    }
    this.#onEnd(this);
    this.ending.settle(answer);
  }

  /** What to answer when the deadline comes before the end. */
  answerNow(): Answer {
    if (this.#phase === 'recording' && this.#provisional?.outcome === 'processed' && !this.#isRecorded) {
      this.warnings.push('completion_pending: the store did not take the completion before the deadline');
    }
    if (this.#provisional !== undefined) return this.#provisional;
    return this.#phase === 'running'
      ? refuse(deadlineReached())
      : unavailable('store_unavailable', 'the store did not answer before the deadline');
  }

  /** Parks the event beside or after its run, for a delivery after which none may follow. */
  async park(error: PosthornError, answerBy: number): Promise<string | undefined> {
    if (this.#phase !== 'recording' && this.#letter.storedAs !== undefined) return this.#letter.storedAs;
    const mayRun = this.#phase === 'waiting' || this.#phase === 'running';
    const storedAs = await this.#letter.store(error, this.#postmark(mayRun), answerBy);
    if (storedAs !== undefined && this.#phase === 'recording') void this.#reconcile();
    return storedAs;
  }

  /** Interrupts the run: see {@link Interruption}. */
  abort(reason: AbortedError): void {
    const isTaken = reason.code === 'lease_lost' || reason.code === 'completed_elsewhere';
    if (isTaken) this.warnings.push(`lease_lost: ${reason.message}`);
    this.#interruption.abort(reason);
  }

  /** Most events need none. */
  get #letter(): Letter {
    if (this.#letterIfMade === undefined) {
      const { id, event, rawBody, headers, receivedAt, deadline, replayed } = this.#job;
      const parcel = { rawBody, headers, receivedAt, id, type: event.type };
      const { parking, settings } = this.#services;
      const times = { deadline, deadlineMs: settings.deadlineMs };
      this.#letterIfMade = new Letter(parking, parcel, this.warnings, times, replayed?.id);
    }
    return this.#letterIfMade;
  }

  /** After a claim that failed: what `onStoreFailure` says. */
  #proceedUnclaimed(error: unknown): ClaimResult {
    if (this.#services.settings.onStoreFailure === 'process') {
      this.warnings.push(`claimed_nothing: ${messageOf(error)}`);
      return UNCLAIMED;
    }
    this.#phase = 'recording';
    // The claim may have run all the same, or run later.
    void this.#claim.release([]);
    throw error;
  }

  #takeFromTwin(claim: ClaimResult): Promise<ClaimResult> {
    this.#phase = 'waiting';
    this.#provisional = unavailable('twin_running', 'another process is still handling this event');
    return this.#claim.takeFromTwin(claim, {
      isAwaited: () => this.ending.isAwaited && this.#interruption.ending === undefined,
      unlessEnded: (promise) => this.#interruption.orEnd(promise),
    });
  }

  async #answerUnclaimed(state: 'completed' | 'busy'): Promise<Answer> {
    if (state === 'completed') {
      await this.#letter.remove();
      return this.#success('duplicate');
    }
    if (this.#letter.isBegun) void this.#reconcile();
    return this.answerNow();
  }

  /** Makes ready for the handlers; gives an answer where they are not to run. */
  #prepare(claim: ClaimedResult): MaybePromise<Answer | undefined> {
    if (this.#interruption.ending !== undefined) return this.#recordFailure(this.#interruption.ending);
    const { now, retryScheduleMs } = this.#services.settings;
    const { createdAt, replayed } = this.#job;
    this.attempt = claim.attempt;
    this.final = replayed !== undefined || isFinal(now() - createdAt, retryScheduleMs, claim);
    noteHandled(this.progress, claim.handled);
    return this.final ? this.#prepareLastAttempt(claim) : undefined;
  }

  /**
   * Stores the letter before the handlers of a last attempt run, so that even a crash loses nothing. An event whose
   * earlier attempts ended without a word may be what kills the process: it is parked without being run.
   */
  async #prepareLastAttempt(claim: ClaimedResult): Promise<Answer | undefined> {
    const { replayed } = this.#job;
    const answerBy = this.#letter.handlersWaitUntil;
    const earlier = replayed ?? (await this.#letter.find(answerBy));
    noteHandled(this.progress, earlier?.handled ?? []);
    const wasAbandoned =
      claim.abandoned > 0 || (earlier?.reason === 'run_abandoned' && earlier.runningUntil !== undefined);
    const mayRun = replayed !== undefined || !wasAbandoned;
    const reason = new AbortedError('run_abandoned', 'the process ended while the handlers were running');
    const storedAs = await this.#letter.store(reason, this.#postmark(mayRun), answerBy);
    if (mayRun || storedAs === undefined) return undefined;
    await this.#claim.release(this.progress.handled);
    return this.#success('parked', reason);
  }

  #abortFor(state: 'lost' | 'completed'): void {
    this.abort(
      state === 'lost'
        ? new AbortedError('lease_lost', 'the lease ran out and another process has taken the event')
        : new AbortedError('completed_elsewhere', 'another process has completed the event'),
    );
  }

  /** Begins to run the handlers, and keeps the lease meanwhile. */
  #runHandlers(isClaimed: boolean): Promise<PosthornError | undefined> {
    const { maxRunMs, schemas } = this.#services.settings;
    const startedAt = performance.now();
    this.#phase = 'running';
    const isParked = this.#letterIfMade?.storedAs !== undefined;
    this.#provisional = isParked ? this.#success('parked', deadlineReached()) : undefined;
    if (isClaimed) this.#claim.keep(startedAt, (state) => this.#abortFor(state));
    this.#overrun = new Timer(startedAt + maxRunMs, () => {
      this.abort(new AbortedError('run_timeout', `the handlers had not ended after maxRunMs (${maxRunMs})`));
    });
    const { event, routes } = this.#job;
    const { attempt = 1, final } = this;
    const context = new RunContext(this.#job, { attempt, final }, this.#interruption);
    return runHandlers(routes, event, context, schemas, this.progress);
  }

  /** Records the end of a run that did not succeed, or not in time. */
  async #recordEnd(end: PosthornError, finished: Promise<PosthornError | undefined>): Promise<Answer> {
    this.#claim.stopKeeping();
    const answer = await this.#recordFailure(end);
    if (end === this.#interruption.ending) void this.#recordLateSuccess(finished);
    return answer;
  }

  /** The lease is renewed until the completion is recorded, so that no other process takes the event. */
  #recordSuccess(): MaybePromise<Answer> {
    const processed = this.#success('processed');
    this.#phase = 'recording';
    this.#provisional = processed;
    const completing = this.#claim.complete();
    return isPending(completing)
      ? completing.then((isKnown) => this.#recorded(isKnown, processed))
      : this.#recorded(completing, processed);
  }

  #recorded(isKnown: boolean, processed: Accepted): MaybePromise<Answer> {
    this.#claim.stopKeeping();
    if (!isKnown)
      this.warnings.push('completion_pending: the store did not take the completion; it is tried again');
    this.#isRecorded = true;
    const removing = this.#removeLetter();
    return removing === undefined ? processed : removing.then(() => processed);
  }

  /** A retried event may have been parked by an earlier attempt. */
  #removeLetter(): Promise<void> | undefined {
    if (this.#services.parking === undefined) return undefined;
    const { now, retryScheduleMs } = this.#services.settings;
    const ageMs = now() - this.#job.createdAt;
    const mayHaveLetter =
      this.attempt !== 1 || this.#interruption.isAborted || isFinalByAge(ageMs, retryScheduleMs);
    if (mayHaveLetter) return this.#letter.removeAny();
    return this.#letterIfMade?.mayExist ? this.#letterIfMade.remove() : undefined;
  }

  /** Whoever holds the id now need not handle the event again. */
  async #recordLateSuccess(finished: Promise<PosthornError | undefined>): Promise<void> {
    if ((await finished) === undefined) await this.#recordSuccess();
    else await this.#claim.release(this.progress.handled);
  }

  async #recordFailure(error: PosthornError): Promise<Answer> {
    if (error.code === 'completed_elsewhere') {
      await this.#letter.removeAny();
      return this.#success('duplicate');
    }
    this.#phase = 'recording';
    const parked = this.#success('parked', error);
    this.#provisional = this.#letterIfMade?.storedAs === undefined ? refuse(error) : parked;
    const mustPark =
      this.final || error.code === 'handler_failed_permanently' || this.#letterIfMade?.isBegun === true;
    const storedAs = mustPark ? await this.#letter.store(error, this.#postmark(false)) : undefined;
    if (storedAs !== undefined) this.#provisional = parked;
    const released = await this.#claim.release(this.progress.handled);
    if (released === 'completed') {
      await this.#letter.remove();
      return this.#success('duplicate');
    }
    if (storedAs === undefined) return refuse(error);
    if (released === 'lost') void this.#reconcile();
    return parked;
  }

  #reconcile(): Promise<void> {
    const { store, settings } = this.#services;
    return this.#letter.reconcile(store, settings);
  }

  #postmark(mayRun: boolean): Postmark {
    const { now, maxRunMs } = this.#services.settings;
    const runningUntil = mayRun ? now() + maxRunMs : undefined;
    return { attempts: this.attempt ?? 0, handled: this.progress.handled, runningUntil };
  }

  #success(outcome: Accepted['outcome'], error?: PosthornError): Accepted {
    return accept(outcome, this.id, error);
  }
}

function deadlineReached(): UnavailableError {
  return new UnavailableError('deadline_reached', 'the handlers were still running at the deadline');
}

function unavailable(code: UnavailableError['code'], message: string): Answer {
  return refuse(new UnavailableError(code, message));
}
