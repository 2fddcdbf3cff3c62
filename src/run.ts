import { Claim, UNCLAIMED } from './claim.ts';
import { AbortedError, messageOf, type PosthornError, UnavailableError } from './errors.ts';
import { type Progress, runHandlers } from './handlers.ts';
import { Interruption } from './interruption.ts';
import type { Job, RunServices } from './job.ts';
import { isFinal, isFinalByAge } from './last-attempt.ts';
import { Letter } from './letter.ts';
import { type Answer, refuse } from './outcome.ts';
import type { Postmark } from './parking.ts';
import type { Warning } from './report.ts';
import type { ClaimedResult, ClaimResult } from './stores/store.ts';
import { settledWithin } from './time-limit.ts';

/**
 * One event on its way through claim, handlers and record. Deliveries of the event that arrive meanwhile join it. It
 * outlives the deadline of its delivery.
 */
export class Run {
  /** Never rejects. Waiting for it does not keep the run asking for a twin's end: `wait` does. */
  readonly ended: Promise<Answer>;
  readonly progress: Progress = { handled: new Set(), reports: [] };
  readonly warnings: Set<Warning> = new Set();
  /** The number of the attempt, once the handlers are about to run. */
  attempt: number | undefined;
  final = false;

  readonly #job: Job;
  readonly #services: RunServices;
  readonly #claim: Claim;
  readonly #letter: Letter;
  readonly #interruption = new Interruption();
  #phase: 'claiming' | 'waiting' | 'running' | 'recording' = 'claiming';
  /** What to answer if the deadline comes now. */
  #provisional: Answer = unavailable('store_unavailable', 'the store did not answer before the deadline');
  #waiting = 0;
  #isRecorded = false;

  constructor(job: Job, services: RunServices) {
    const { event, rawBody, headers, receivedAt, replayed } = job;
    const warn = (warning: Warning): void => void this.warnings.add(warning);
    const parcel = { rawBody, headers, receivedAt, id: event.id, type: event.type };
    this.#job = job;
    this.#services = services;
    this.#claim = new Claim(event, services, warn);
    this.#letter = new Letter(services.parking, parcel, warn, replayed?.id);
    this.ended = this.#execute().catch(refuse);
  }

  /** Whether handlers are running. */
  get isRunning(): boolean {
    return this.#phase === 'running';
  }

  /** Waits for the end, for `timeLimitMs` at most; undefined when that is over. */
  async wait(timeLimitMs: number): Promise<Answer | undefined> {
    this.#waiting += 1;
    const answer = await settledWithin(this.ended, timeLimitMs);
    this.#waiting -= 1;
    return answer;
  }

  /** What to answer when the deadline comes before the end. */
  answerNow(): Answer {
    if (this.#provisional.outcome === 'processed' && !this.#isRecorded) {
      this.warnings.add('completion_pending: the store did not take the completion before the deadline');
    }
    return this.#provisional;
  }

  /** Parks the event beside or after its run, for a delivery after which none may follow. */
  async park(error: PosthornError): Promise<string | undefined> {
    if (this.#phase !== 'recording' && this.#letter.storedAs !== undefined) return this.#letter.storedAs;
    const mayRun = this.#phase === 'waiting' || this.#phase === 'running';
    const storedAs = await this.#letter.store(error, this.#postmark(mayRun));
    if (storedAs !== undefined && this.#phase === 'recording') void this.#reconcile();
    return storedAs;
  }

  /** Interrupts the run: see {@link Interruption}. */
  abort(reason: AbortedError): void {
    const isTaken = reason.code === 'lease_lost' || reason.code === 'completed_elsewhere';
    if (isTaken) this.warnings.add(`lease_lost: ${reason.message}`);
    this.#interruption.abort(reason);
  }

  async #execute(): Promise<Answer> {
    const claim = await this.#take();
    if (claim.state === 'completed') {
      await this.#letter.remove();
      return this.#success('duplicate');
    }
    if (claim.state === 'busy') {
      if (this.#letter.isBegun) void this.#reconcile();
      return this.#provisional;
    }
    if (this.#interruption.reason !== undefined) return this.#recordFailure(this.#interruption.reason);
    const { settings } = this.#services;
    const { event, replayed } = this.#job;
    this.attempt = claim.attempt;
    this.final = replayed !== undefined || isFinal(event, settings.now(), settings.retryScheduleMs, claim);
    for (const name of claim.handled) this.progress.handled.add(name);
    const parked = await this.#prepareLastAttempt(claim);
    if (parked !== undefined) return parked;
    if (this.#interruption.reason !== undefined) return this.#recordFailure(this.#interruption.reason);
    return this.#attempt(claim !== UNCLAIMED);
  }

  async #take(): Promise<ClaimResult> {
    try {
      return await this.#claim.take({
        onBusy: () => {
          this.#phase = 'waiting';
          this.#provisional = unavailable('twin_running', 'another process is still handling this event');
        },
        isAwaited: () => this.#waiting > 0 && this.#interruption.reason === undefined,
        interrupted: this.#interruption.ended,
      });
    } catch (error) {
      if (this.#services.settings.onStoreFailure === 'process') {
        this.warnings.add(`claimed_nothing: ${messageOf(error)}`);
        return UNCLAIMED;
      }
      this.#phase = 'recording';
      // The claim may have run all the same, or run later.
      void this.#claim.release([]);
      throw error;
    }
  }

  /**
   * Stores the letter before the handlers of a last attempt run, so that even a crash loses nothing. An event whose
   * earlier attempts ended without a word may be what kills the process: it is parked without being run.
   */
  async #prepareLastAttempt(claim: ClaimedResult): Promise<Answer | undefined> {
    if (!this.final) return undefined;
    const { replayed } = this.#job;
    const earlier = replayed ?? (await this.#letter.find());
    for (const name of earlier?.handled ?? []) this.progress.handled.add(name);
    const wasAbandoned =
      claim.abandoned > 0 || (earlier?.reason === 'run_abandoned' && earlier.runningUntil !== undefined);
    const mayRun = replayed !== undefined || !wasAbandoned;
    const reason = new AbortedError('run_abandoned', 'the process ended while the handlers were running');
    const storedAs = await this.#letter.store(reason, this.#postmark(mayRun));
    if (mayRun || storedAs === undefined) return undefined;
    await this.#claim.release(this.progress.handled);
    return this.#success('parked', reason);
  }

  async #attempt(isClaimed: boolean): Promise<Answer> {
    const { maxRunMs } = this.#services.settings;
    const late = new UnavailableError('deadline_reached', 'the handlers were still running at the deadline');
    this.#phase = 'running';
    this.#provisional = this.#letter.storedAs === undefined ? refuse(late) : this.#success('parked', late);
    const stopKeeping = isClaimed ? this.#claim.keep((state) => this.#abortFor(state)) : () => {};
    const overrun = setTimeout(() => {
      this.abort(new AbortedError('run_timeout', `the handlers had not ended after maxRunMs (${maxRunMs})`));
    }, maxRunMs);
    const finished = this.#runHandlers();
    const end = await Promise.race([finished, this.#interruption.ended]);
    clearTimeout(overrun);
    // Else the lease is renewed until the completion is recorded, so that no other process takes the event.
    if (end !== undefined) stopKeeping();
    const answer = end === undefined ? await this.#recordSuccess() : await this.#recordFailure(end);
    stopKeeping();
    if (end !== undefined && end === this.#interruption.reason) void this.#recordLateSuccess(finished);
    return answer;
  }

  #abortFor(state: 'lost' | 'completed'): void {
    this.abort(
      state === 'lost'
        ? new AbortedError('lease_lost', 'the lease ran out and another process has taken the event')
        : new AbortedError('completed_elsewhere', 'another process has completed the event'),
    );
  }

  #runHandlers(): Promise<PosthornError | undefined> {
    const { event, routes, deadlineAt, receivedAt, rawBody } = this.#job;
    const { attempt = 1, final } = this;
    const { signal } = this.#interruption;
    const context = { attempt, final, signal, deadlineAt, receivedAt, rawBody };
    return runHandlers(routes, event, context, this.#services.settings.schemas, this.progress);
  }

  async #recordSuccess(): Promise<Answer> {
    const processed = this.#success('processed');
    this.#phase = 'recording';
    this.#provisional = processed;
    await this.#claim.complete();
    this.#isRecorded = true;
    // A retried event may have been parked by an earlier attempt.
    const { event } = this.#job;
    const { now, retryScheduleMs } = this.#services.settings;
    const mayHaveLetter =
      this.attempt !== 1 || this.#interruption.signal.aborted || isFinalByAge(event, now(), retryScheduleMs);
    await (mayHaveLetter ? this.#letter.removeAny() : this.#letter.remove());
    return processed;
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
    this.#provisional = this.#letter.storedAs === undefined ? refuse(error) : parked;
    const mustPark = this.final || error.code === 'handler_failed_permanently' || this.#letter.isBegun;
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

  #success(outcome: 'processed' | 'duplicate' | 'parked', error?: PosthornError): Answer {
    return { outcome, id: this.#job.event.id, ...(error !== undefined && { error }) };
  }
}

function unavailable(code: UnavailableError['code'], message: string): Answer {
  return refuse(new UnavailableError(code, message));
}
