import type { Authentic } from '../authentication/authenticator.ts';
import type { DeadLetter } from '../dead-letters/dead-letters.ts';
import { Letter } from '../dead-letters/letter.ts';
import type { Wait } from '../dead-letters/line.ts';
import { type AttemptInfo, type LetterContent, Parking, parkingLimitMs } from '../dead-letters/parking.ts';
import { acceptanceId, handlingId } from '../dedupe/claim-id.ts';
import { Completions } from '../dedupe/completions.ts';
import { isFinalByAge } from '../dedupe/last-attempt.ts';
import { retentionFor } from '../dedupe/retention.ts';
import { type TimeLimitedStore, timeLimited } from '../dedupe/time-limited.ts';
import { AbortedError, EventError, JobError, messageOf, UnavailableError } from '../errors.ts';
import { type AnyEvent, checkAge, createdAtMs, parseEvent } from '../events/event.ts';
import { type Answer, accept, isSuccess, type Refused, refuse } from '../outcomes/outcome.ts';
import { type ReadJob, readJob } from '../queue/queued-job.ts';
import type { BodyMemory } from '../request/body-memory.ts';
import { readHeaders } from '../request/headers.ts';
import type { Activity } from '../timing/activity.ts';
import type { Awaitable } from '../timing/awaitable.ts';
import type { HandlingSettings, Job } from './job.ts';
import { isQueued, toAcceptance, workerRoutes } from './queued-handlers.ts';
import { Room } from './room.ts';
import type { Route, Router } from './router.ts';
import type { Run } from './run.ts';
import { RunsInFlight } from './runs-in-flight.ts';
import type { Trace } from './trace.ts';

/**
/** One attempt of a queue to have a job run. */
export interface JobAttempt {
  readonly attempt: number;
  readonly final: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Takes an authentic body through event, dedupe and handlers to its answer, and parks what cannot be retried.
 */
export class Processor {
  readonly #settings: HandlingSettings;
  readonly #router: Router;
  readonly #store: TimeLimitedStore;
  readonly #parking: Parking | undefined;
  readonly #runs: RunsInFlight;

  constructor(settings: HandlingSettings, router: Router, activity: Activity, bodyMemory: BodyMemory) {
    this.#settings = settings;
    this.#router = router;
    this.#store = timeLimited(settings.store);
    this.#parking =
      settings.deadLetters &&
      new Parking(settings.deadLetters, parkingLimitMs(settings.deadlineMs), settings.now);
    const completions = new Completions(this.#store, activity);
    const room = Number.isFinite(settings.maxRunning) ? new Room(settings.maxRunning) : undefined;
    const services = { settings, store: this.#store, parking: this.#parking, completions, bodyMemory, room };
    this.#runs = new RunsInFlight(services, activity);
  }

  /** Begins or joins the run of an event; gives an answer where it needs none. */
  begin(authentic: Authentic, trace: Trace): Awaitable<Run | Answer> {
    try {
      return this.#beginEvent(authentic, trace);
    } catch (error) {
      const refused = refuse(error);
      if (refused.error instanceof EventError) trace.event = refused.error.event;
      const isFixedByRetry = !(refused.error instanceof EventError) && !trace.finalByAge;
      if (isFixedByRetry) return refused;
      return this.#park(refused, { ...authentic, receivedAt: trace.receivedAt }, trace);
    }
  }

  /** Parses an event, checks its age and finds its handlers, then starts or joins its run. */
  #beginEvent({ rawBody, headers }: Authentic, trace: Trace): Run | Answer {
    const { now, maxEventAgeMs, retryScheduleMs } = this.#settings;
    const event = parseEvent(rawBody);
    const { id, type } = event;
    trace.event = { id, type };
    const createdAt = createdAtMs(event);
    const ageMs = now() - createdAt;
    trace.finalByAge = isFinalByAge(ageMs, retryScheduleMs);
    checkAge(event, ageMs, maxEventAgeMs);
    const routes = this.#routesFor(event, trace);
    if (routes.length === 0) return accept('ignored', id);
    const { receivedAt, deadline, deadlineMs } = trace;
    const deadlineAt = receivedAt + deadlineMs;
    const times = { createdAt, receivedAt, deadlineAt, deadline, deadlineMs };
    const whole = { id, claimId: handlingId(id), event, rawBody, headers, ...times, routes };
    const { queue } = this.#settings;
    const isForWorkers = queue !== undefined && routes.some(isQueued);
    const job = isForWorkers ? toAcceptance(whole, queue, this.#settings) : whole;
    if (this.#runs.isCompletionPending(job.claimId)) return accept('duplicate', id);
    return this.#startOrJoin(job, trace);
  }

  /**
   * Waits for a run, and parks its event where it failed and no retry will come. A run that has not ended
   * before the deadline goes on: see `trace.unfinished`.
   */
  async finish(run: Run, trace: Trace): Promise<Answer> {
    const settled = await run.answer.settledBy(this.#answerBy(trace));
    trace.unfinished = settled === undefined;
    const known = settled ?? run.answerNow();
    const answer = trace.joined ? asDuplicate(known) : known;
    if (isSuccess(answer) || !trace.finalByAge) return answer;
    const id = await run.park(answer.error, this.#parkBy(trace));
    return id === undefined ? answer : accept('parked', id, answer.error);
  }

  /** Runs a parked event; waits for the end of its handlers. */
  async replay(letter: DeadLetter, trace: Trace): Promise<Answer> {
    trace.event = letter;
    if (this.#isRunning(letter)) {
      throw new UnavailableError(
        'twin_running',
        'the handlers of this event may still be running: runningUntil of its letter is later than now',
      );
    }
    const event = parseEvent(letter.rawBody);
    const { id } = event;
    const claimId = handlingId(id);
    const routes = this.#routesFor(event, trace);
    if (routes.length === 0) return accept('ignored', id);
    if (this.#runs.isCompletionPending(claimId)) {
      await this.#takeOut(letter, trace);
      return accept('duplicate', id);
    }
    const { rawBody, receivedAt } = letter;
    const headers = readHeaders(letter.headers);
    const deadlineAt = this.#settings.now() + this.#settings.maxRunMs;
    const createdAt = createdAtMs(event);
    const { deadline, deadlineMs } = trace;
    const times = { createdAt, receivedAt, deadlineAt, deadline, deadlineMs };
    const job = { id, claimId, event, rawBody, headers, ...times, routes, replayed: letter };
    const run = this.#startOrJoin(job, trace);
    const settled = await run.answer.settled();
    const answer = trace.joined ? asDuplicate(settled) : settled;
    if (!isSuccess(answer) || answer.outcome === 'parked') return answer;
    if (trace.joined) await this.#takeOut(letter, trace);
    if (routes.some(isQueued))
      await this.#recordAcceptance(id, retentionFor(createdAt, this.#settings), trace);
    return answer;
  }

  /**
   * Runs the queued handlers of a job; waits for their end. Throws for a job that this process cannot run,
   * and where it runs the event already: nothing has been claimed then.
   */
  async dispatch(value: unknown, attempt: JobAttempt, trace: Trace): Promise<Answer> {
    const job = readJob(value);
    const event = parseJobEvent(job);
    trace.event = { id: event.id, type: event.type };
    if (trace.closing) throw new UnavailableError('closing', 'the receiver is closing');
    try {
      return await this.#runJob(job, event, attempt, trace);
    } catch (error) {
      const refused = refuse(error);
      const mustPark = attempt.final && refused.error.code === 'handler_missing';
      const content = { rawBody: job.rawBody, headers: job.headers, receivedAt: job.receivedAt };
      const attemptInfo = { attempts: attempt.attempt, handled: job.handled };
      return mustPark ? this.#park(refused, content, trace, attemptInfo) : refused;
    }
  }

  async #runJob(job: ReadJob, event: AnyEvent, attempt: JobAttempt, trace: Trace): Promise<Answer> {
    const { rawBody, headers, receivedAt, handled, isParked } = job;
    const { id } = event;
    const claimId = handlingId(id);
    const routes = workerRoutes(this.#router, event.type, job);
    if (this.#runs.isCompletionPending(claimId)) return accept('duplicate', id);
    if (this.#runs.find(claimId) !== undefined)
      throw new UnavailableError('twin_running', 'this process is handling the event already');
    const { deadline, deadlineMs } = trace;
    const deadlineAt = this.#settings.now() + this.#settings.maxRunMs;
    const times = { createdAt: createdAtMs(event), receivedAt, deadlineAt, deadline, deadlineMs };
    const dispatched = { ...attempt, isParked, handled };
    const run = this.#runs.start({ id, claimId, event, rawBody, headers, ...times, routes, dispatched });
    trace.run = run;
    const { signal } = attempt;
    const abort = (): void => {
      run.abort(new AbortedError('run_closed', 'the worker gave the job up', { cause: signal?.reason }));
    };
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort);
    const answer = await run.answer.settled();
    signal?.removeEventListener('abort', abort);
    return answer;
  }

  /**
   * Completes the id of a parked event and takes its letter out. The letter is read first: one that is gone
   * may have been replayed or dropped by somebody else, and its id is not this call's to complete.
   */
  async drop(letter: DeadLetter): Promise<boolean> {
    const parking = this.#parking;
    if (parking === undefined || this.#isRunning(letter)) return false;
    const stored = await parking.find(letter.id, this.#wait());
    if (stored === undefined || this.#isRunning(stored)) return false;
    const retentionMs = this.#retentionOf(letter);
    await this.#store.complete({ id: handlingId(letter.id), token: 'dropped', retentionMs });
    if (this.#settings.queue !== undefined) await this.#completeAcceptance(letter.id, retentionMs);
    return await parking.remove(letter.id, this.#wait());
  }

  /** A later delivery of an event that was handled as a whole must not run what is not queued again. */
  async #recordAcceptance(id: string, retentionMs: number, trace: Trace): Promise<void> {
    try {
      await this.#completeAcceptance(id, retentionMs);
    } catch (error) {
      trace.warnings.push(`completion_pending: the store did not take the acceptance: ${messageOf(error)}`);
    }
  }

  async #completeAcceptance(id: string, retentionMs: number): Promise<void> {
    await this.#store.complete({ id: acceptanceId(id), token: 'replayed', retentionMs });
  }

  async #takeOut(letter: DeadLetter, trace: Trace): Promise<void> {
    try {
      await this.#parking?.remove(letter.id, this.#wait());
    } catch (error) {
      trace.warnings.push(`dead_letter_not_removed: ${messageOf(error)}`);
    }
  }

  /** How a removal waits where no sender does. */
  #wait(): Wait {
    return { answerBy: performance.now() + this.#settings.deadlineMs, isUrgent: false };
  }

  #retentionOf(letter: DeadLetter): number {
    try {
      return retentionFor(createdAtMs(parseEvent(letter.rawBody)), this.#settings);
    } catch {
      return this.#settings.retentionMs; // what is no event has no age
    }
  }

  #isRunning({ runningUntil }: DeadLetter): boolean {
    return runningUntil !== undefined && runningUntil > this.#settings.now();
  }

  /** Aborts the running handlers; resolves with the ids of their events. */
  abandon(): Promise<string[]> {
    return this.#runs.abandon();
  }

  /** Starts the run of an event, or joins the one that is under way. */
  #startOrJoin(job: Job, trace: Trace): Run {
    const current = this.#runs.find(job.claimId);
    trace.joined = current !== undefined;
    trace.run = current ?? this.#runs.start(job);
    return trace.run;
  }

  /** Until when a delivery waits for its run. */
  #answerBy(trace: Trace): number {
    const mayPark = trace.finalByAge && this.#parking !== undefined;
    const reserveMs = mayPark ? parkingLimitMs(trace.deadlineMs) : 0;
    return trace.deadline - reserveMs;
  }

  /**
   * Refuses here what a receiver that is closing cannot handle: the event is parsed, so that it can be
   * parked.
   */
  #routesFor(event: AnyEvent, trace: Trace): readonly Route[] {
    if (trace.closing) throw new UnavailableError('closing', 'the receiver is closing');
    if (this.#router.isEmpty) {
      throw new UnavailableError(
        'no_handlers',
        'no handler is registered: call on() or onUnhandled() before the first delivery',
      );
    }
    return this.#router.match(event.type);
  }

  /** Until when a delivery that has failed waits for its letter. */
  #parkBy(trace: Trace): number {
    return Math.max(trace.deadline, performance.now() + parkingLimitMs(trace.deadlineMs));
  }

  /** Parks what is refused without a run; without dead letters, or if they fail, it stays refused. */
  async #park(
    refused: Refused,
    { rawBody, headers, receivedAt }: Pick<LetterContent, 'rawBody' | 'headers' | 'receivedAt'>,
    trace: Trace,
    attemptInfo: AttemptInfo = { attempts: 0, handled: [] },
  ): Promise<Answer> {
    const { error } = refused;
    const { id: eventId, type } = trace.event ?? {};
    const content = { rawBody, headers, receivedAt, id: eventId, type };
    const { deadline, deadlineMs } = trace;
    const letter = new Letter(this.#parking, content, trace.warnings, { deadline, deadlineMs });
    const id = await letter.store(error, attemptInfo, this.#parkBy(trace));
    if (id === undefined) return refused;
    void letter.reconcile(this.#store, this.#settings);
    return accept('parked', id, error);
  }
}

/** A job passed the checks of its event when it was queued, so nothing but damage can have changed it. */
function parseJobEvent({ rawBody }: ReadJob): AnyEvent {
  try {
    return parseEvent(rawBody);
  } catch (cause) {
    throw new JobError('job_unreadable', `the body of the job is no event: ${messageOf(cause)}`, { cause });
  }
}

/** The answer to a delivery that joined the run of another one. */
function asDuplicate(answer: Answer): Answer {
  if (answer.outcome === 'processed' || answer.outcome === 'queued') return accept('duplicate', answer.id);
  if (answer.error?.code !== 'deadline_reached' || isSuccess(answer)) return answer;
  return refuse(
    new UnavailableError('twin_running', 'another delivery of this event is still being handled'),
  );
}
