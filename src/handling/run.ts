import { Letter } from '../dead-letters/letter.ts';
import type { Postmark } from '../dead-letters/parking.ts';
import { Claim, UNCLAIMED } from '../dedupe/claim.ts';
import { isFinal, isFinalByAge } from '../dedupe/last-attempt.ts';
import type { ClaimedResult, ClaimResult, RenewResult } from '../dedupe/store.ts';
import { AbortedError, messageOf, PosthornError, UnavailableError } from '../errors.ts';
import { entityOf } from '../events/event.ts';
import { type Accepted, type Answer, accept, refuse } from '../outcomes/outcome.ts';
import type { Warning } from '../outcomes/report.ts';
import { Timer } from '../timing/time-limit.ts';
import { Ending } from './ending.ts';
import {
  noteHandled,
  type Progress,
  RunContext,
  runHandlers,
  type ValidEvent,
  validateEvent,
} from './handlers.ts';
import { Interruption } from './interruption.ts';
import type { Job, RunServices } from './job.ts';

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
  #phase: 'claiming' | 'waiting' | 'validating' | 'running' | 'recording' = 'claiming';
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

  /** Whether the schema or the handlers are running. */
  get isRunning(): boolean {
    return this.#phase === 'validating' || this.#phase === 'running';
  }

  /** Never rejects. */
  async start(): Promise<void> {
    let answer: Answer;
    try {
      answer = await this.#handle();
    } catch (error) {
      this.#phase = 'recording';
      // Whatever went wrong: an id that stayed claimed would keep its event from every retry. The claim may also have run unanswered.
      void this.#claim.release(this.progress.handled);
      answer = refuse(error);
    }
    this.#overrun?.clear();
    this.#claim.stopKeeping();
    this.#onEnd(this);
    this.ending.settle(answer);
  }

  /** The way of an event from its claim to its answer. */
  async #handle(): Promise<Answer> {
    let claim = await this.#takeClaim();
    for (;;) {
      if (claim.state === 'busy') claim = await this.#takeFromTwin(claim);
      if (claim.state !== 'claimed') return this.#answerUnclaimed(claim.state);
      const answer = await this.#prepare(claim);
      if (answer !== undefined) return answer;
      const event = await this.#validate();
      if (event instanceof PosthornError) return this.#recordFailure(event);
      let state: RenewResult['state'] | PosthornError = this.#claim.state;
      while (state === 'held' && this.#claim.isOld) state = await this.#confirmClaim();
      if (state instanceof PosthornError) return this.#recordFailure(state);
      // Nothing is awaited between the look at the claim and the handlers: those of another event could block the event loop meanwhile.
      if (state === 'held') return this.#runHandlers(event);
      claim = state === 'completed' ? { state } : { state: 'busy', msLeft: 0 };
    }
  }

  /** What to answer when the deadline comes before the end. */
  answerNow(): Answer {
    if (this.#phase === 'recording' && this.#provisional?.outcome === 'processed' && !this.#isRecorded) {
      this.warnings.push('completion_pending: the store did not take the completion before the deadline');
    }
    if (this.#provisional !== undefined) return this.#provisional;
    return this.isRunning
      ? refuse(deadlineReached())
      : unavailable('store_unavailable', 'the store did not answer before the deadline');
  }

  /** Parks the event beside or after its run, for a delivery after which none may follow. */
  async park(error: PosthornError, answerBy: number): Promise<string | undefined> {
    if (this.#phase !== 'recording' && this.#letter.storedAs !== undefined) return this.#letter.storedAs;
    const mayRun = this.#phase === 'waiting' || this.isRunning;
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

  /** Claims the event; where the store fails, `onStoreFailure` says how to go on. */
  async #takeClaim(): Promise<ClaimResult> {
    try {
      return await this.#claim.take();
    } catch (error) {
      if (this.#services.settings.onStoreFailure === 'reject') throw error;
      this.warnings.push(`claimed_nothing: ${messageOf(error)}`);
      return UNCLAIMED;
    }
  }

  /** Asks the store whether the event is still this process's to run. An error refuses the delivery. */
  async #confirmClaim(): Promise<RenewResult['state'] | PosthornError> {
    this.#phase = 'claiming';
    try {
      return await this.#claim.confirm();
    } catch (error) {
      if (this.#services.settings.onStoreFailure === 'reject') return refuse(error).error;
      this.#claim.trust();
      this.warnings.push(`claimed_nothing: ${messageOf(error)}`);
      return 'held';
    }
  }

  /** Waits while another process handles the event. The body that is kept meanwhile is counted; without room for it nobody waits. */
  async #takeFromTwin(claim: ClaimResult): Promise<ClaimResult> {
    this.#claim.stopKeeping();
    this.#overrun?.clear();
    this.#overrun = undefined;
    this.#phase = 'waiting';
    this.#provisional = unavailable('twin_running', 'another process is still handling this event');
    const { bodyMemory } = this.#services;
    const share = bodyMemory.hold(this.#job.rawBody.byteLength);
    if (share === undefined) return claim;
    try {
      return await this.#claim.takeFromTwin(claim, {
        isAwaited: () => this.ending.isAwaited && this.#interruption.ending === undefined,
        unlessEnded: (promise) => this.#interruption.orEnd(promise),
      });
    } finally {
      bodyMemory.release(share);
    }
  }

  async #answerUnclaimed(state: 'completed' | 'busy'): Promise<Answer> {
    if (state === 'completed') {
      await this.#letter.remove();
      return this.#success('duplicate');
    }
    if (this.#letter.isBegun) void this.#reconcile();
    return this.answerNow();
  }

  /** Makes ready for the handlers, and keeps the lease from here on; gives an answer where they are not to run. */
  async #prepare(claim: ClaimedResult): Promise<Answer | undefined> {
    if (claim !== UNCLAIMED) this.#claim.keep((state) => this.#onTaken(state));
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

  /** Before the handlers run there is nothing to abort: the claim is asked for its state then. */
  #onTaken(state: 'lost' | 'completed'): void {
    if (this.#phase !== 'running' && this.#phase !== 'recording') return;
    this.abort(
      state === 'lost'
        ? new AbortedError('lease_lost', 'the lease ran out and another process has taken the event')
        : new AbortedError('completed_elsewhere', 'another process has completed the event'),
    );
  }

  /** The event with the output of its entity's schema as data; an error where the schema refuses it, or the run was ended. */
  async #validate(): Promise<ValidEvent | PosthornError> {
    const { event } = this.#job;
    const schema = this.#services.settings.schemas.get(entityOf(event.type));
    if (schema === undefined) return event;
    this.#phase = 'validating';
    this.#limitRun();
    return this.#interruption.orEnd(validateEvent(event, schema));
  }

  async #runHandlers(event: ValidEvent): Promise<Answer> {
    const { ending } = this.#interruption;
    if (ending !== undefined) return this.#recordFailure(ending);
    this.#phase = 'running';
    const isParked = this.#letterIfMade?.storedAs !== undefined;
    this.#provisional = isParked ? this.#success('parked', deadlineReached()) : undefined;
    this.#limitRun();
    const { attempt = 1, final } = this;
    const context = new RunContext(this.#job, { attempt, final }, this.#interruption);
    const finished = runHandlers(this.#job.routes, event, context, this.progress);
    const end = await this.#interruption.orEnd(finished);
    this.#overrun?.clear();
    if (this.#claim.wasNeglected) this.warnings.push(LEASE_EXPIRED);
    return end === undefined ? this.#recordSuccess() : this.#recordEnd(end, finished);
  }

  /** Ends a run that takes longer than `maxRunMs`, the schema's time included. */
  #limitRun(): void {
    const { maxRunMs } = this.#services.settings;
    this.#overrun ??= new Timer(performance.now() + maxRunMs, () => {
      this.abort(new AbortedError('run_timeout', `the handlers had not ended after maxRunMs (${maxRunMs})`));
    });
  }

  /** Records the end of a run that did not succeed, or not in time. */
  async #recordEnd(end: PosthornError, finished: Promise<PosthornError | undefined>): Promise<Answer> {
    this.#claim.stopKeeping();
    const answer = await this.#recordFailure(end);
    if (end === this.#interruption.ending) void this.#recordLateSuccess(finished);
    return answer;
  }

  /** The lease is renewed until the completion is recorded, so that no other process takes the event. */
  async #recordSuccess(): Promise<Answer> {
    const processed = this.#success('processed');
    this.#phase = 'recording';
    this.#provisional = processed;
    const isKnown = await this.#claim.complete();
    this.#claim.stopKeeping();
    if (!isKnown)
      this.warnings.push('completion_pending: the store did not take the completion; it is tried again');
    this.#isRecorded = true;
    await this.#removeLetter();
    return processed;
  }

  /** A retried event may have been parked by an earlier attempt. */
  async #removeLetter(): Promise<void> {
    if (this.#services.parking === undefined) return;
    const { now, retryScheduleMs } = this.#services.settings;
    const ageMs = now() - this.#job.createdAt;
    const mayHaveLetter =
      this.attempt !== 1 || this.#interruption.isAborted || isFinalByAge(ageMs, retryScheduleMs);
    if (mayHaveLetter) await this.#letter.removeAny();
    else await this.#letterIfMade?.remove();
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

const LEASE_EXPIRED: Warning =
  'lease_lost: the lease ran out while the handlers ran, because the event loop was blocked; another process may have run them too';

function deadlineReached(): UnavailableError {
  return new UnavailableError('deadline_reached', 'the handlers were still running at the deadline');
}

function unavailable(code: UnavailableError['code'], message: string): Answer {
  return refuse(new UnavailableError(code, message));
}
