import { Claim } from '../dedupe/claim.ts';
import { isFinal, isFinalByAge } from '../dedupe/last-attempt.ts';
import type { ClaimedResult, ClaimResult } from '../dedupe/store.ts';
import { AbortedError, isPosthornError, type PosthornError } from '../errors.ts';
import { type AnyEvent, entityOf } from '../events/event.ts';
import type { StandardSchemaV1 } from '../events/schema.ts';
import { type Answer, accept, refuse } from '../outcomes/outcome.ts';
import type { Warning } from '../outcomes/report.ts';
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
import { PendingAnswer } from './pending-answer.ts';
import type { Enqueue, RunInput } from './run-input.ts';
import { RunLetter } from './run-letter.ts';
import type { RunServices } from './run-services.ts';
import { answerAtDeadline, hasEnded, type RunState } from './run-state.ts';
import { throughMiddlewares } from './through-middlewares.ts';

/** How many runs have begun in this process. */
let begun = 0;

/**
 * Handles one event: claim, letter of a last attempt, schema, handlers, record. Deliveries of the event that
 * arrive meanwhile join it. A run goes on when its delivery has been answered at the deadline. Start at
 * docs/how-it-works.md, which draws its states. `origin.ts` says how a run can begin, and what differs by
 * that.
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
  readonly #input: RunInput;
  readonly #services: RunServices;
  readonly #onEnd: (run: Run) => void;
  readonly #claim: Claim;
  readonly #letter: RunLetter;
  readonly #interruption = new Interruption();
  #permits = 0;
  #isBodyCounted = false;
  #state: RunState = { step: 'claiming' };
  /** The end of the handlers and of the enqueueing; an aborted run does not wait for it. */
  #finished: Promise<PosthornError | undefined> | undefined;

  constructor(input: RunInput, services: RunServices, onEnd: (run: Run) => void) {
    begun += 1;
    this.runId = begun;
    this.#input = input;
    this.#services = services;
    this.#onEnd = onEnd;
    this.#claim = new Claim(input, services, this.#warnings);
    this.#letter = new RunLetter(input, services, this.progress, this.#warnings);
  }

  get id(): string {
    return this.#input.id;
  }

  /** Its id in the store. */
  get claimId(): string {
    return this.#input.claimId;
  }

  /** The problems of the run so far, and that its completion is still being recorded, if it is. */
  get warnings(): readonly Warning[] {
    return this.#state.step === 'completing' ? [...this.#warnings, COMPLETING] : this.#warnings;
  }

  /** Whether the run should have ended by now. */
  get isOverdue(): boolean {
    return performance.now() > this.#input.deadline.answerBy + this.#services.settings.maxRunMs;
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
      answer = await this.#recordFailure(error);
      if (error === this.#interruption.endedBy) void this.#recordLateEnd();
    }
    this.#interruption.unlimit();
    this.#releasePermits();
    this.#uncountBody();
    this.#claim.stopRenewing();
    this.#onEnd(this);
    this.answer.settle(answer);
  }

  /**
   * Claims the event, waits for another process that has it, prepares a last attempt, validates the data and
   * runs the handlers. Starts again if the claim was lost before the handlers could run. A step that fails
   * throws.
   */
  async #handle(): Promise<Answer> {
    const { event } = this.#input;
    const { schemas } = this.#services.settings;
    let result = await this.#takeClaim();
    for (;;) {
      if (result.state === 'busy') result = await this.#waitForOtherProcess(result);
      if (result.state === 'completed') return this.#answerDuplicate();
      if (result.state === 'busy') return this.answerNow();
      this.#beginAttempt(result);
      const parked = this.final && (await this.#prepareLastAttempt(result));
      if (parked) return parked;
      if (this.#services.concurrency !== undefined) await this.#acquirePermits();
      const schema = schemas.get(entityOf(event.type));
      const validated = schema === undefined ? event : await this.#validate(event, schema);
      while (this.#claim.isOld) {
        this.#state = { step: 'claiming' };
        await this.#claim.confirm();
      }
      // No await between this check and the handlers: those of another event could block the event loop for
      // longer than the lease.
      const { state } = this.#claim;
      if (state === 'held') return this.#runHandlers(validated);
      result = state === 'completed' ? { state } : { state: 'busy', msLeft: 0 };
    }
  }

  /** If the store queues claims, this one waits for as long as the plan allows, and the body is counted. */
  #takeClaim(): Promise<ClaimResult> {
    const { store } = this.#services;
    if (store.mustWait() && !this.#countBody()) return this.#claim.take({ waitMs: 0 });
    if (!store.queuesClaims) return this.#claim.take();
    return this.#claim.take({
      waitMs: this.#input.deadline.claimWaitMs(store.commandTimeoutMs),
      mayWaitLonger: () => this.#interruption.endedBy === undefined && this.#countBody(),
    });
  }

  /** Counts the body while the run waits with it; false if it does not fit: the run must not wait then. */
  #countBody(): boolean {
    this.#isBodyCounted ||= this.#services.bodyMemory.reserve(this.#input.rawBody.byteLength);
    return this.#isBodyCounted;
  }

  #uncountBody(): void {
    if (this.#isBodyCounted) this.#services.bodyMemory.giveBack(this.#input.rawBody.byteLength);
    this.#isBodyCounted = false;
  }

  async #waitForOtherProcess(claim: ClaimResult): Promise<ClaimResult> {
    this.#claim.stopRenewing();
    this.#interruption.unlimit();
    this.#state = { step: 'waiting' };
    this.#releasePermits();
    if (!this.#countBody()) return claim;
    return await this.#claim.waitForOther(claim, {
      isAwaited: () => this.answer.isAwaited && this.#interruption.endedBy === undefined,
      orAbort: (promise) => this.#interruption.orAbort(promise).catch(() => {}),
    });
  }

  /**
   * The event has been completed, so its letter is removed; with `removeAny` also that of an earlier
   * delivery.
   */
  async #answerDuplicate({ removeAny = false } = {}): Promise<Answer> {
    this.#state = { step: 'completed', outcome: 'duplicate' };
    if (removeAny) await this.#letter.removeAny();
    else await this.#letter.remove();
    return accept('duplicate', this.id);
  }

  /** Notes the attempt, and keeps the lease from here on. */
  #beginAttempt(claim: ClaimedResult): void {
    this.#state = { step: 'preparing' };
    this.#uncountBody();
    this.#claim.startRenewing((state) => this.#onTaken(state));
    this.#interruption.check();
    const { now, retryScheduleMs } = this.#services.settings;
    const { createdAt, origin } = this.#input;
    this.attempt = origin.attempt(claim);
    this.final = origin.isFinal(isFinal(now() - createdAt, retryScheduleMs, claim));
    noteHandled(this.progress, claim.handled);
    noteHandled(this.progress, origin.handled);
  }

  async #prepareLastAttempt(claim: ClaimedResult): Promise<Answer | undefined> {
    const reason = await this.#letter.storeBeforeRun(claim, this.attempt);
    if (reason === undefined) return undefined;
    return this.#giveBack(accept('parked', this.id, refuse(reason).error));
  }

  async #acquirePermits(): Promise<void> {
    const { deadline, origin, rawBody, routes } = this.#input;
    const { length } = openRoutes(routes, this.progress);
    if (!origin.isLimited || this.#permits > 0 || length === 0) return;
    const wait = {
      until: deadline.handlersBeginBy,
      bodyBytes: rawBody.byteLength,
      interruption: this.#interruption,
    };
    this.#permits = (await this.#services.concurrency?.acquire(length, wait)) ?? 0;
  }

  #releasePermits(): void {
    if (this.#permits > 0) this.#services.concurrency?.release(this.#permits);
    this.#permits = 0;
  }

  /** Resolves with the event, whose data is the output of its schema. */
  #validate(event: AnyEvent, schema: StandardSchemaV1): Promise<ValidEvent> {
    this.#state = { step: 'validating' };
    this.#interruption.limit(this.#services.settings.maxRunMs);
    return this.#interruption.orAbort(validateEvent(event, schema));
  }

  async #runHandlers(event: ValidEvent): Promise<Answer> {
    this.#interruption.check();
    this.#state = { step: 'running' };
    this.#interruption.limit(this.#services.settings.maxRunMs);
    this.#finished = this.#startHandlers(event);
    try {
      const failure = await this.#interruption.orAbort(this.#finished);
      if (failure !== undefined) throw failure;
    } finally {
      this.#interruption.unlimit();
      if (this.#claim.missedRenewal) this.#warnings.push(LEASE_EXPIRED);
    }
    return this.#recordSuccess();
  }

  /** Runs the handlers, and then enqueues the event if workers run other handlers. Never rejects. */
  #startHandlers(event: ValidEvent): Promise<PosthornError | undefined> {
    const { attempt: number = 1, final, runId } = this;
    const { middlewares } = this.#services;
    const attempt = { attempt: number, final };
    const interruption = this.#interruption;
    const { routes, enqueue } =
      middlewares.length === 0
        ? this.#input
        : throughMiddlewares(this.#input, middlewares, { event, runId, attempt, interruption });
    const context = new RunContext(this.#input, attempt, interruption);
    const handled = runHandlers(routes, event, context, this.progress, this.#input.origin.onHandled);
    if (this.#permits > 0) void this.#releaseAfter(handled);
    return enqueue === undefined ? handled : this.#enqueueAfter(handled, enqueue);
  }

  /** Aborted handlers keep their permits until they have ended. */
  async #releaseAfter(handled: Promise<unknown>): Promise<void> {
    const count = this.#permits;
    this.#permits = 0;
    await handled;
    this.#services.concurrency?.release(count);
  }

  async #enqueueAfter(
    handled: Promise<PosthornError | undefined>,
    enqueue: Enqueue,
  ): Promise<PosthornError | undefined> {
    const failure = await handled;
    if (failure !== undefined) return failure;
    const refusal = await enqueue({
      handled: [...this.progress.handled],
      // Another process may have taken the event, and store a letter of it when the worker handles it.
      isParked: this.#mayHaveLetter || this.#claim.missedRenewal,
      mayWait: () => this.#countBody(),
    });
    this.#uncountBody();
    return refusal;
  }

  /**
   * Aborts running handlers. Before they run, `#handle` checks the state of the claim itself. After them,
   * `completed` comes from this run's own completion. A lease that is lost while the completion is recorded
   * is worth a warning.
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
    const { success } = this.#input.origin;
    this.#state = { step: 'completing' };
    const isKnown = await this.#claim.complete();
    this.#claim.stopRenewing();
    if (!isKnown)
      this.#warnings.push('completion_pending: the store did not take the completion; it is tried again');
    this.#state = { step: 'completed', outcome: success };
    if (this.#mayHaveLetter) await this.#letter.removeAny();
    return accept(success, this.id);
  }

  /** An earlier attempt may have parked the event, and so may a queue that has given up a long job. */
  get #mayHaveLetter(): boolean {
    const { letters, settings } = this.#services;
    const { createdAt, deadline, origin } = this.#input;
    if (letters === undefined) return false;
    if (this.#letter.mayExist) return true;
    if (this.attempt !== 1 || this.#interruption.isAborted) return true;
    if (origin.mayBeSwept && deadline.isPast) return true;
    return isFinalByAge(settings.now() - createdAt, settings.retryScheduleMs);
  }

  /** Records how aborted handlers ended after all: a success completes the id, whoever holds it by then. */
  async #recordLateEnd(): Promise<void> {
    if (this.#finished === undefined) return;
    if ((await this.#finished) === undefined) await this.#recordSuccess();
    else await this.#claim.release(this.progress.handled);
  }

  async #recordFailure(thrown: unknown): Promise<Answer> {
    const isCompletedElsewhere = isPosthornError(thrown) && thrown.code === 'completed_elsewhere';
    if (isCompletedElsewhere) return this.#answerDuplicate({ removeAny: true });
    const refused = refuse(thrown);
    const { error } = refused;
    const isClaimed = this.#state.step !== 'claiming' || this.attempt !== undefined;
    this.#state = { step: 'failed', error };
    const isLast = this.final || error.code === 'handler_failed_permanently' || this.#letter.isBegun;
    const mustPark = isClaimed && isLast && !this.#input.origin.isPutBack(error);
    const storedAs = mustPark
      ? await this.#letter.store(error, { attempt: this.attempt, mayRun: false })
      : undefined;
    const answer = this.#giveBack(storedAs === undefined ? refused : accept('parked', this.id, error));
    // A store that has just failed to answer a claim is not waited for again; it may have granted the claim.
    return isClaimed ? answer : refused;
  }

  /**
   * Gives the id back after an attempt that failed or was not run, and resolves with the answer. Another run
   * may have completed the event before its letter was stored.
   */
  async #giveBack(answer: Answer): Promise<Answer> {
    // Only now: a letter may wait for longer than a lease.
    this.#claim.stopRenewing();
    const released = await this.#claim.release(this.progress.handled);
    if (released === 'completed') return this.#answerDuplicate();
    if (released !== 'released' && this.#letter.mayExist) void this.#removeLetterUnlessHeld();
    return answer;
  }

  /** The store may answer the release late. */
  async #removeLetterUnlessHeld(): Promise<void> {
    if ((await this.#claim.released()) !== 'released') await this.#letter.removeIfCompleted();
  }

  /** The answer by the state that the run is in: its deadline has come, or no delivery waits any more. */
  answerNow(): Answer {
    return answerAtDeadline(this.#state, {
      id: this.id,
      success: this.#input.origin.success,
      isParked: this.#letter.storedAs !== undefined,
      msUntilOtherEnds: this.#claim.msUntilOtherEnds,
    });
  }

  /** Parks the event beside or after its run, for a delivery that no retry will follow. */
  async park(error: PosthornError, answerBy: number): Promise<string | undefined> {
    if (!hasEnded(this.#state) && this.#letter.storedAs !== undefined) return this.#letter.storedAs;
    const mayRun = !hasEnded(this.#state) && this.#state.step !== 'claiming';
    const storedAs = await this.#letter.store(error, { attempt: this.attempt, mayRun, answerBy });
    if (storedAs !== undefined && hasEnded(this.#state)) void this.#letter.removeIfCompleted();
    if (storedAs !== undefined && this.#state.step === 'waiting') void this.#removeLetterUnlessClaimed();
    return storedAs;
  }

  /** The run of another process may have completed the event before the letter was stored. */
  async #removeLetterUnlessClaimed(): Promise<void> {
    await this.answer.settled();
    if (this.#state.step === 'waiting') await this.#letter.removeIfCompleted();
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
