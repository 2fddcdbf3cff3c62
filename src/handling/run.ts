import { Letter } from '../dead-letters/letter.ts';
import type { AttemptInfo } from '../dead-letters/parking.ts';
import { Claim } from '../dedupe/claim.ts';
import { isFinal, isFinalByAge } from '../dedupe/last-attempt.ts';
import type { ClaimedResult, ClaimResult } from '../dedupe/store.ts';
import { AbortedError, PosthornError, UnavailableError } from '../errors.ts';
import { entityOf } from '../events/event.ts';
import { type Answer, accept, refuse } from '../outcomes/outcome.ts';
import type { Warning } from '../outcomes/report.ts';
import type { Awaitable } from '../timing/awaitable.ts';
import {
  noteHandled,
  openRoutes,
  type Progress,
  RunContext,
  runHandlers,
  type ValidEvent,
  validateEvent,
} from './handlers.ts';
import { Interruption } from './interruption.ts';
import type { Enqueue, Job, RunServices } from './job.ts';
import { PendingAnswer } from './pending-answer.ts';
import { Places } from './room.ts';
import { answerAtDeadline, hasEnded, type RunState } from './run-state.ts';
import { throughMiddlewares } from './through-middlewares.ts';

/** How many runs have begun in this process. */
let begun = 0;

/**
 * Handles one event: claim, letter of a last attempt, schema, handlers, record. Deliveries of the event that
 * arrive meanwhile join it. A run goes on when its delivery has been answered at the deadline.
 */
export class Run {
  /** Its number in this process, from 1. */
  readonly runId: number;
  readonly progress: Progress = { handled: [], reports: [] };
  readonly answer: PendingAnswer = new PendingAnswer();
  /** The number of the attempt, once the event is claimed. */
  attempt: number | undefined = undefined;
  final = false;

  readonly #warnings: Warning[] = [];
  readonly #job: Job;
  readonly #services: RunServices;
  readonly #onEnd: (run: Run) => void;
  readonly #claim: Claim;
  readonly #letter: Letter;
  readonly #interruption = new Interruption();
  readonly #places: Places;
  #isBodyCounted = false;
  #state: RunState = { step: 'claiming' };

  constructor(job: Job, services: RunServices, onEnd: (run: Run) => void) {
    const { id, event, rawBody, headers, receivedAt, deadline, deadlineMs, replayed, dispatched } = job;
    const { parking, bodyMemory } = services;
    begun += 1;
    this.runId = begun;
    this.#job = job;
    this.#services = services;
    this.#onEnd = onEnd;
    this.#claim = new Claim(job, services, this.#warnings);
    const content = { rawBody, headers, receivedAt, id, type: event.type };
    this.#letter = new Letter(
      parking,
      content,
      this.#warnings,
      { deadline, deadlineMs },
      {
        storedAs: replayed?.id ?? (dispatched?.isParked ? id : undefined),
        isKept: job.enqueue !== undefined,
      },
    );
    const room = replayed === undefined && dispatched === undefined ? services.room : undefined;
    this.#places = new Places(room, bodyMemory, rawBody.byteLength);
  }

  get id(): string {
    return this.#job.id;
  }

  /** What the store knows the run by. */
  get claimId(): string {
    return this.#job.claimId;
  }

  /** The problems of the run so far; while its completion is being recorded, this is one of them. */
  get warnings(): readonly Warning[] {
    return this.#state.step === 'completing' ? [...this.#warnings, COMPLETING] : this.#warnings;
  }

  /** Whether the run should have ended by now. */
  get isOverdue(): boolean {
    return performance.now() > this.#job.deadline + this.#services.settings.maxRunMs;
  }

  /** Whether the schema or the handlers are running. */
  get isRunning(): boolean {
    return this.#state.step === 'validating' || this.#state.step === 'running';
  }

  /** Never rejects. */
  async start(): Promise<void> {
    let answer: Answer;
    try {
      answer = await this.#handle();
    } catch (error) {
      // Whatever went wrong, the id must be free for the next attempt. A claim without an answer may also
      // have been made.
      void this.#claim.release(this.progress.handled);
      const refused = refuse(error);
      this.#state = { step: 'failed', error: refused.error };
      answer = refused;
    }
    this.#interruption.unlimit();
    this.#places.leave();
    this.#uncountBody();
    this.#claim.stopRenewing();
    this.#onEnd(this);
    this.answer.settle(answer);
  }

  /**
   * Claims the event, waits for another process that has it, prepares a last attempt, validates the data and
   * runs the handlers. Starts again if the claim was lost before the handlers could run.
   */
  async #handle(): Promise<Answer> {
    const mayWait = !this.#services.store.mustWait() || this.#countBody();
    let result = await this.#claim.take({ mayWait });
    this.#uncountBody();
    for (;;) {
      if (result.state === 'busy') result = await this.#waitForOtherProcess(result);
      if (result.state !== 'claimed') return this.#answerUnclaimed(result.state);
      const answer = await this.#prepare(result);
      if (answer !== undefined) return answer;
      const refused = this.#services.room && (await this.#takePlaces());
      if (refused !== undefined) return this.#recordFailure(refused);
      const validated = await this.#validate();
      if (validated instanceof PosthornError) return this.#recordFailure(validated);
      while (this.#claim.isOld) {
        const failure = await this.#confirmClaim();
        if (failure !== undefined) return this.#recordFailure(failure);
      }
      // No await between this check and the handlers: those of another event could block the event loop for
      // longer than the lease.
      const { state } = this.#claim;
      if (state === 'held') return this.#runHandlers(validated);
      result = state === 'completed' ? { state } : { state: 'busy', msLeft: 0 };
    }
  }

  /** Counts the body while the run waits with it; false if it does not fit: the run must not wait then. */
  #countBody(): boolean {
    this.#isBodyCounted = this.#services.bodyMemory.reserve(this.#job.rawBody.byteLength);
    return this.#isBodyCounted;
  }

  #uncountBody(): void {
    if (this.#isBodyCounted) this.#services.bodyMemory.giveBack(this.#job.rawBody.byteLength);
    this.#isBodyCounted = false;
  }

  async #waitForOtherProcess(claim: ClaimResult): Promise<ClaimResult> {
    this.#claim.stopRenewing();
    this.#interruption.unlimit();
    this.#state = { step: 'waiting' };
    this.#places.leave();
    if (!this.#countBody()) return claim;
    try {
      return await this.#claim.waitForOther(claim, {
        isAwaited: () => this.answer.isAwaited && this.#interruption.endedBy === undefined,
        orAbort: (promise) => this.#interruption.race(promise),
      });
    } finally {
      this.#uncountBody();
    }
  }

  async #answerUnclaimed(state: 'completed' | 'busy'): Promise<Answer> {
    if (state === 'completed') {
      this.#state = { step: 'completed', outcome: 'duplicate' };
      await this.#letter.remove();
      return accept('duplicate', this.id);
    }
    return refuse(new UnavailableError('event_running', 'another process is still handling this event'));
  }

  /**
   * Notes the attempt, and keeps the lease from here on; gives an answer where the handlers are not to run.
   */
  #prepare(claim: ClaimedResult): Awaitable<Answer | undefined> {
    this.#state = { step: 'preparing' };
    this.#claim.startRenewing((state) => this.#onTaken(state));
    if (this.#interruption.endedBy !== undefined) return this.#recordFailure(this.#interruption.endedBy);
    const { now, retryScheduleMs } = this.#services.settings;
    const { createdAt, replayed, dispatched } = this.#job;
    const isLast = () => replayed !== undefined || isFinal(now() - createdAt, retryScheduleMs, claim);
    this.attempt = dispatched?.attempt ?? claim.attempt;
    this.final = dispatched?.final ?? isLast();
    noteHandled(this.progress, claim.handled);
    if (dispatched !== undefined) noteHandled(this.progress, dispatched.handled);
    return this.final ? this.#prepareLastAttempt(claim) : undefined;
  }

  /**
   * Stores the letter before the handlers of a last attempt run, so that even a crash loses nothing. An event
   * whose earlier attempts ended without a word may be what kills the process: it is parked without being
   * run.
   */
  async #prepareLastAttempt(claim: ClaimedResult): Promise<Answer | undefined> {
    const { replayed, dispatched } = this.#job;
    const answerBy = this.#letter.handlersWaitUntil;
    const earlier = replayed ?? (await this.#letter.find(answerBy));
    noteHandled(this.progress, earlier?.handled ?? []);
    // The letter of an event that was final when it came waits beside its job as it was stored then.
    const isRunningLetter = earlier?.reason === 'run_abandoned' && earlier.runningUntil !== undefined;
    const wasAbandoned =
      (claim.abandoned > 0 && dispatched?.parksAbandoned !== false) ||
      (isRunningLetter && dispatched === undefined);
    // Without handlers of its own, the way into the queue kills no process.
    const isHarmless = this.#job.routes.length === 0;
    const mayRun = replayed !== undefined || isHarmless || !wasAbandoned;
    const reason = new AbortedError('run_abandoned', 'the process ended while the handlers were running');
    const storedAs = await this.#letter.store(reason, this.#attemptInfo(mayRun), answerBy);
    if (mayRun || storedAs === undefined) return undefined;
    await this.#claim.release(this.progress.handled);
    return accept('parked', this.id, refuse(reason).error);
  }

  #takePlaces(): Promise<PosthornError | undefined> {
    const { length } = openRoutes(this.#job.routes, this.progress);
    return this.#places.take(length, this.#letter.handlersWaitUntil, this.#interruption);
  }

  /**
   * The event with the output of its schema as data; an error where the schema refuses it, or the run is
   * aborted.
   */
  #validate(): Awaitable<ValidEvent | PosthornError> {
    const { event } = this.#job;
    const schema = this.#services.settings.schemas.get(entityOf(event.type));
    if (schema === undefined) return event;
    this.#state = { step: 'validating', isParked: this.#letter.storedAs !== undefined };
    this.#interruption.limit(this.#services.settings.maxRunMs);
    return this.#interruption.race(validateEvent(event, schema));
  }

  /** Asks the store whether the event is still this process's to run; an error refuses the delivery. */
  async #confirmClaim(): Promise<PosthornError | undefined> {
    this.#state = { step: 'claiming' };
    try {
      await this.#claim.confirm();
      return undefined;
    } catch (error) {
      return refuse(error).error;
    }
  }

  async #runHandlers(event: ValidEvent): Promise<Answer> {
    if (this.#interruption.endedBy !== undefined) return this.#recordFailure(this.#interruption.endedBy);
    this.#state = { step: 'running', isParked: this.#letter.storedAs !== undefined };
    this.#interruption.limit(this.#services.settings.maxRunMs);
    const { attempt: number = 1, final, runId } = this;
    const attempt = { attempt: number, final };
    const { middlewares } = this.#services;
    const interruption = this.#interruption;
    const { routes, enqueue } =
      middlewares.length === 0
        ? this.#job
        : throughMiddlewares(this.#job, middlewares, { event, runId, attempt, interruption });
    const context = new RunContext(this.#job, attempt, interruption);
    const handled = runHandlers(routes, event, context, this.progress);
    this.#places.leave(handled);
    const finished = enqueue === undefined ? handled : this.#enqueueAfter(handled, enqueue);
    const failure = await this.#interruption.race(finished);
    this.#interruption.unlimit();
    if (this.#claim.missedRenewal) this.#warnings.push(LEASE_EXPIRED);
    if (failure === undefined) return this.#recordSuccess();
    const answer = await this.#recordFailure(failure);
    if (failure === this.#interruption.endedBy) void this.#recordLateEnd(finished);
    return answer;
  }

  /** The event goes into the queue once its own handlers have succeeded. Never rejects. */
  async #enqueueAfter(
    handlers: Promise<PosthornError | undefined>,
    enqueue: Enqueue,
  ): Promise<PosthornError | undefined> {
    const failure = await handlers;
    if (failure !== undefined) return failure;
    const handled = [...this.progress.handled];
    const mayWait = (): boolean => this.#countBody();
    const refusal = await enqueue({ handled, isParked: this.#letter.mayExist, mayWait });
    this.#uncountBody();
    return refusal;
  }

  /**
   * Aborts running handlers. Before they run, the claim is asked for its state. After them `completed` comes
   * from this run's own completion; a lease that is lost while the completion is recorded is worth a warning.
   */
  #onTaken(state: 'lost' | 'completed'): void {
    const { step } = this.#state;
    if (step !== 'running' && !(step === 'completing' && state === 'lost')) return;
    this.abort(
      state === 'lost'
        ? new AbortedError('lease_lost', 'the lease ran out and another process has taken the event')
        : new AbortedError('completed_elsewhere', 'another process has completed the event'),
    );
  }

  /** The lease is renewed until the completion is recorded, so that no other process takes the event. */
  async #recordSuccess(): Promise<Answer> {
    this.#state = { step: 'completing' };
    const isKnown = await this.#claim.complete();
    this.#claim.stopRenewing();
    if (!isKnown)
      this.#warnings.push('completion_pending: the store did not take the completion; it is tried again');
    this.#state = { step: 'completed', outcome: this.#success };
    if (this.#mayHaveLetter) await this.#letter.removeAny();
    return accept(this.#success, this.id);
  }

  get #success(): 'processed' | 'queued' {
    return this.#job.enqueue === undefined ? 'processed' : 'queued';
  }

  /** An earlier attempt of a retried event may have parked it, or a queue that gave up a long job. */
  get #mayHaveLetter(): boolean {
    const { parking, settings } = this.#services;
    if (parking === undefined) return false;
    if (this.#letter.mayExist || this.attempt !== 1 || this.#interruption.isAborted) return true;
    if (this.#job.dispatched !== undefined && performance.now() > this.#job.deadline) return true;
    return isFinalByAge(settings.now() - this.#job.createdAt, settings.retryScheduleMs);
  }

  /** Records how aborted handlers ended after all: a success completes the id, whoever holds it by then. */
  async #recordLateEnd(finished: Promise<PosthornError | undefined>): Promise<void> {
    if ((await finished) === undefined) await this.#recordSuccess();
    else await this.#claim.release(this.progress.handled);
  }

  async #recordFailure(error: PosthornError): Promise<Answer> {
    if (error.code === 'completed_elsewhere') {
      this.#state = { step: 'completed', outcome: 'duplicate' };
      await this.#letter.removeAny();
      return accept('duplicate', this.id);
    }
    const refused = refuse(error);
    this.#state = { step: 'failed', error: refused.error };
    // A worker that closes puts the job back, and the letter of a last attempt stays beside it.
    const isPutBack = this.#job.dispatched !== undefined && error.code === 'run_closed';
    const isLast = this.final || error.code === 'handler_failed_permanently' || this.#letter.isBegun;
    const mustPark = isLast && !isPutBack;
    const storedAs = mustPark ? await this.#letter.store(error, this.#attemptInfo(false)) : undefined;
    // Only now: a letter may wait in line for longer than a lease.
    this.#claim.stopRenewing();
    const released = await this.#claim.release(this.progress.handled);
    if (released === 'completed') {
      this.#state = { step: 'completed', outcome: 'duplicate' };
      await this.#letter.remove();
      return accept('duplicate', this.id);
    }
    if (storedAs === undefined) return refused;
    if (released === 'lost') void this.#reconcile();
    return accept('parked', this.id, refused.error);
  }

  /** The answer to a delivery whose deadline has come before the end of the run. */
  answerNow(): Answer {
    return answerAtDeadline(this.#state, {
      id: this.id,
      success: this.#success,
      isParked: this.#letter.storedAs !== undefined,
    });
  }

  /** Parks the event beside or after its run, for a delivery that no retry will follow. */
  async park(error: PosthornError, answerBy: number): Promise<string | undefined> {
    if (!hasEnded(this.#state) && this.#letter.storedAs !== undefined) return this.#letter.storedAs;
    const mayRun = !hasEnded(this.#state) && this.#state.step !== 'claiming';
    const storedAs = await this.#letter.store(error, this.#attemptInfo(mayRun), answerBy);
    if (storedAs !== undefined && hasEnded(this.#state)) void this.#reconcile();
    if (storedAs !== undefined && this.#state.step === 'waiting') void this.#reconcileUnlessClaimed();
    return storedAs;
  }

  /** The run of another process may have completed the event before the letter was there. */
  async #reconcileUnlessClaimed(): Promise<void> {
    await this.answer.settled();
    if (this.#state.step === 'waiting') await this.#reconcile();
  }

  #reconcile(): Promise<void> {
    const { store, settings } = this.#services;
    return this.#letter.reconcile(store, settings);
  }

  #attemptInfo(mayRun: boolean): AttemptInfo {
    const { now, maxRunMs } = this.#services.settings;
    const runningUntil = mayRun ? now() + maxRunMs : undefined;
    return { attempts: this.attempt ?? 0, handled: this.progress.handled, runningUntil };
  }

  /** Interrupts the run: see {@link Interruption}. */
  abort(reason: AbortedError): void {
    const isTaken = reason.code === 'lease_lost' || reason.code === 'completed_elsewhere';
    if (isTaken) this.#warnings.push(`lease_lost: ${reason.message}`);
    this.#interruption.abort(reason);
  }
}

const COMPLETING: Warning = 'completion_pending: the store did not take the completion before the deadline';

const LEASE_EXPIRED: Warning =
  'lease_lost: the event loop was blocked for longer than the lease; another process may have run the handlers too';
