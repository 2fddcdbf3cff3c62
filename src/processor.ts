import type { Activity } from './activity.ts';
import { retentionFor } from './claim.ts';
import { Completions } from './completions.ts';
import type { DeadLetter } from './dead-letters/dead-letters.ts';
import { Dedupe } from './dedupe.ts';
import { EventError, messageOf, UnavailableError } from './errors.ts';
import { type AnyEvent, checkAge, parseEvent } from './event.ts';
import { type HeaderValues, readHeaders } from './headers.ts';
import { isFinalByAge } from './last-attempt.ts';
import { Letter } from './letter.ts';
import type { Settings } from './options.ts';
import { type Answer, isSuccess, type Refused, refuse } from './outcome.ts';
import { Parking } from './parking.ts';
import type { Route, Router } from './router.ts';
import { type TimeLimitedStore, timeLimited } from './stores/time-limited.ts';
import { type Trace, timeLeftMs } from './trace.ts';

/** An authentic body with its headers. */
export interface Authentic {
  readonly rawBody: Uint8Array;
  readonly headers: HeaderValues;
}

/** The most that storing one letter may take; kept back from the deadline for a delivery that may need it. */
const PARKING_LIMIT_MS = 2_000;

/** Takes an authentic body through event, dedupe and handlers to its answer, and parks what cannot be retried. */
export class Processor {
  readonly #settings: Settings;
  readonly #router: Router;
  readonly #store: TimeLimitedStore;
  readonly #parking: Parking | undefined;
  readonly #parkingLimitMs: number;
  readonly #dedupe: Dedupe;

  constructor(settings: Settings, router: Router, activity: Activity) {
    this.#settings = settings;
    this.#router = router;
    this.#store = timeLimited(settings.store);
    this.#parkingLimitMs = Math.min(PARKING_LIMIT_MS, settings.deadlineMs / 4);
    this.#parking =
      settings.deadLetters && new Parking(settings.deadLetters, this.#parkingLimitMs, settings.now);
    const completions = new Completions(this.#store, activity);
    const services = { settings, store: this.#store, parking: this.#parking, completions };
    this.#dedupe = new Dedupe(services, activity);
  }

  /** Answers before the deadline. A run that has not ended by then goes on: see `trace.unfinished`. */
  async process(authentic: Authentic, trace: Trace): Promise<Answer> {
    const { now, maxEventAgeMs, retryScheduleMs } = this.#settings;
    try {
      const event = parseEvent(authentic.rawBody);
      trace.event = event;
      trace.finalByAge = isFinalByAge(event, now(), retryScheduleMs);
      checkAge(event, now(), maxEventAgeMs);
      const answer = await this.#handle(event, authentic, trace).catch(refuse);
      return isSuccess(answer) || !trace.finalByAge ? answer : this.#park(answer, authentic, trace);
    } catch (error) {
      if (!(error instanceof EventError)) throw error;
      trace.event = error.event;
      return this.#park({ outcome: 'rejected', error }, authentic, trace);
    }
  }

  /** Runs a parked event; waits for the end of its handlers. */
  async replay(letter: DeadLetter, trace: Trace): Promise<Answer> {
    if (this.#isRunning(letter)) {
      throw new UnavailableError(
        'twin_running',
        `the handlers of this event may be running until ${letter.runningUntil}`,
      );
    }
    trace.event = letter;
    const event = parseEvent(letter.rawBody);
    const routes = this.#routesFor(event, trace);
    if (routes.length === 0) return { outcome: 'ignored', id: event.id };
    if (this.#dedupe.isCompleted(event.id)) {
      await this.#takeOut(letter, trace);
      return { outcome: 'duplicate', id: event.id };
    }
    const { rawBody, receivedAt } = letter;
    const headers = readHeaders(letter.headers);
    const deadlineAt = this.#settings.now() + this.#settings.maxRunMs;
    const job = { event, rawBody, headers, receivedAt, deadlineAt, routes, replayed: letter };
    const { run, joined } = this.#dedupe.run(job);
    trace.run = run;
    trace.joined = joined;
    const answer = joined ? asTwin(await run.ended) : await run.ended;
    if (joined && isSuccess(answer) && answer.outcome !== 'parked') await this.#takeOut(letter, trace);
    return answer;
  }

  /** Completes the id of a parked event and takes the letter out. */
  async drop(letter: DeadLetter): Promise<boolean> {
    if (this.#isRunning(letter)) return false;
    const retentionMs = this.#retentionOf(letter);
    await this.#store.complete({ id: letter.id, token: 'dropped', retentionMs });
    return (await this.#parking?.remove(letter.id)) ?? false;
  }

  async #takeOut(letter: DeadLetter, trace: Trace): Promise<void> {
    try {
      await this.#parking?.remove(letter.id);
    } catch (error) {
      trace.warnings.add(`dead_letter_not_removed: ${messageOf(error)}`);
    }
  }

  #retentionOf(letter: DeadLetter): number {
    try {
      return retentionFor(parseEvent(letter.rawBody), this.#settings);
    } catch {
      return this.#settings.retentionMs; // what is no event has no age
    }
  }

  #isRunning({ runningUntil }: DeadLetter): boolean {
    return runningUntil !== undefined && runningUntil > this.#settings.now();
  }

  /** Aborts the running handlers; resolves with the ids of their events. */
  abandon(): Promise<string[]> {
    return this.#dedupe.abandon();
  }

  async #handle(event: AnyEvent, { rawBody, headers }: Authentic, trace: Trace): Promise<Answer> {
    const { id } = event;
    const routes = this.#routesFor(event, trace);
    if (routes.length === 0) return { outcome: 'ignored', id };
    if (this.#dedupe.isCompleted(id)) return { outcome: 'duplicate', id };
    const { receivedAt } = trace;
    const deadlineAt = receivedAt + this.#settings.deadlineMs;
    const { run, joined } = this.#dedupe.run({ event, rawBody, headers, receivedAt, deadlineAt, routes });
    trace.run = run;
    trace.joined = joined;
    const reserveMs = trace.finalByAge && this.#parking !== undefined ? this.#parkingLimitMs : 0;
    const answer = await run.wait(Math.max(0, timeLeftMs(trace) - reserveMs));
    trace.unfinished = answer === undefined;
    return joined ? asTwin(answer ?? run.answerNow()) : (answer ?? run.answerNow());
  }

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

  /** Parks what is refused and will not be sent again; without dead letters, or if they fail, it stays refused. */
  async #park(refused: Refused, { rawBody, headers }: Authentic, trace: Trace): Promise<Answer> {
    const { error } = refused;
    if (trace.run !== undefined) {
      const id = await trace.run.park(error);
      return id === undefined ? refused : { outcome: 'parked', id, error };
    }
    const parcel = { rawBody, headers, receivedAt: trace.receivedAt, ...trace.event };
    const letter = new Letter(this.#parking, parcel, (warning) => trace.warnings.add(warning));
    const id = await letter.store(error, { attempts: 0, handled: [] });
    if (id === undefined) return refused;
    void letter.reconcile(this.#store, this.#settings);
    return { outcome: 'parked', id, error };
  }
}

/** The answer to a delivery that joined the run of another one. */
function asTwin(answer: Answer): Answer {
  if (answer.outcome === 'processed') return { outcome: 'duplicate', id: answer.id };
  if (answer.error?.code !== 'deadline_reached' || isSuccess(answer)) return answer;
  return refuse(
    new UnavailableError('twin_running', 'another delivery of this event is still being handled'),
  );
}
