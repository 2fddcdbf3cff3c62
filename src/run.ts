import { randomUUID } from 'node:crypto';
import { claimEvent } from './claim.ts';
import type { Completions } from './completions.ts';
import type { DeadLetter } from './dead-letters/dead-letters.ts';
import {
  AbortedError,
  DataError,
  InternalError,
  messageOf,
  type PosthornError,
  UnavailableError,
} from './errors.ts';
import { type AnyEvent, createdAtMs, entityOf, type WebhookEvent } from './event.ts';
import { type Progress, runHandlers } from './handlers.ts';
import type { HeaderValues } from './headers.ts';
import { attemptSpacingMs, isFinal } from './last-attempt.ts';
import { keepLease, type Lease } from './lease.ts';
import { Letter, type Postmark } from './letter.ts';
import type { Settings } from './options.ts';
import { type Answer, refuse } from './outcome.ts';
import type { Parking } from './parking.ts';
import type { Warning } from './report.ts';
import type { HandlerContext, Route } from './router.ts';
import { validateData } from './schema.ts';
import type { ClaimedResult, ClaimResult, ReleaseResult, Store } from './stores/store.ts';
import { settledWithin } from './time-limit.ts';

/** An authentic event and the handlers that want it. */
export interface Job {
  readonly event: AnyEvent;
  readonly rawBody: Uint8Array;
  readonly headers: HeaderValues;
  readonly receivedAt: number;
  readonly deadlineAt: number;
  readonly routes: readonly Route[];
  /** The letter that is being replayed. */
  readonly replayed?: DeadLetter | undefined;
}

/** What all runs of a receiver share. */
export interface RunServices {
  readonly settings: Settings;
  readonly store: Store;
  readonly parking: Parking | undefined;
  readonly completions: Completions;
}

/** The claim of an event whose store does not answer, under `onStoreFailure: 'process'`. */
const UNCLAIMED: ClaimedResult = {
  state: 'claimed',
  attempt: 1,
  abandoned: 0,
  firstClaimedMsAgo: 0,
  handled: [],
};

/** Beyond an event's age limit, for clocks that differ. */
const RETENTION_MARGIN_MS = 10 * 60_000;

/**
 * One event on its way through claim, handlers and record. Deliveries of the event that arrive meanwhile join it. It
 * outlives the deadline of its delivery.
 */
export class Run {
  /** Never rejects. Waiting for it does not keep the run asking for a twin's end: `end` and `wait` do. */
  readonly ended: Promise<Answer>;
  readonly progress: Progress = { handled: new Set(), reports: [] };
  readonly warnings: Set<Warning> = new Set();
  /** The number of the attempt, once the handlers are about to run. */
  attempt: number | undefined;
  final = false;

  readonly #job: Job;
  readonly #services: RunServices;
  readonly #letter: Letter;
  readonly #token = randomUUID();
  readonly #retentionMs: number;
  readonly #controller = new AbortController();
  readonly #interrupted: Promise<AbortedError>;
  #interrupt: (reason: AbortedError) => void = () => {};
  #provisional: Answer;
  #waiting = 0;
  #claimed = true;
  #stopped: AbortedError | undefined;
  #over = false;

  constructor(job: Job, services: RunServices) {
    this.#job = job;
    this.#services = services;
    this.#retentionMs = retentionFor(job.event, services.settings);
    const { event, rawBody, headers, receivedAt } = job;
    const parcel = { rawBody, headers, receivedAt, id: event.id, type: event.type };
    this.#letter = new Letter(
      services.parking,
      parcel,
      (warning) => this.warnings.add(warning),
      job.replayed?.id,
    );
    this.#interrupted = new Promise((resolve) => {
      this.#interrupt = resolve;
    });
    this.#provisional = unavailable('store_unavailable', 'the store did not answer before the deadline');
    this.ended = this.#execute()
      .catch(refuse)
      .finally(() => {
        this.#over = true;
      });
  }

  /** Resolves at the end of the run. */
  async end(): Promise<Answer> {
    this.#waiting += 1;
    const answer = await this.ended;
    this.#waiting -= 1;
    return answer;
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
    if (this.#provisional.outcome === 'processed') {
      this.warnings.add('completion_pending: the store did not take the completion before the deadline');
    }
    return this.#provisional;
  }

  /** Parks the event beside its run: the delivery that asks for it cannot wait, and none may follow. */
  async park(error: PosthornError): Promise<string | undefined> {
    if (this.#letter.storedAs !== undefined && !this.#over) return this.#letter.storedAs;
    const runningUntil = this.#over ? undefined : this.#runningUntil();
    const storedAs = await this.#letter.store(error, this.#postmark(runningUntil));
    if (storedAs !== undefined && this.#over) void this.#reconcile();
    return storedAs;
  }

  /** Aborts the handlers' signal. All but a lost lease also ends the run, whether or not the handlers heed it. */
  abort(reason: AbortedError): void {
    this.#controller.abort(reason);
    if (reason.code === 'lease_lost') this.warnings.add(`lease_lost: ${reason.message}`);
    else {
      this.#stopped ??= reason;
      this.#interrupt(reason);
    }
  }

  async #execute(): Promise<Answer> {
    const claim = await this.#claim();
    if (claim.state === 'completed') {
      await this.#letter.remove();
      return this.#success('duplicate');
    }
    if (claim.state === 'busy') {
      if (this.#letter.storedAs !== undefined) void this.#reconcile();
      return this.#provisional;
    }
    if (this.#stopped !== undefined) return this.#recordFailure(this.#stopped);
    const { settings } = this.#services;
    this.attempt = claim.attempt;
    this.final =
      this.#job.replayed !== undefined ||
      isFinal(this.#job.event, settings.now(), settings.retryScheduleMs, claim);
    for (const name of claim.handled) this.progress.handled.add(name);
    return (await this.#prepareLastAttempt(claim)) ?? (await this.#attempt());
  }

  async #claim(): Promise<ClaimResult> {
    const { settings, store } = this.#services;
    const request = {
      ...this.#request(),
      leaseMs: settings.leaseMs,
      attemptSpacingMs: attemptSpacingMs(settings.retryScheduleMs),
    };
    try {
      return await claimEvent(store, request, {
        onBusy: () => {
          this.#provisional = unavailable('twin_running', 'another process is still handling this event');
        },
        isAwaited: () => this.#waiting > 0 && this.#stopped === undefined,
        interrupted: this.#interrupted,
      });
    } catch (error) {
      if (settings.onStoreFailure === 'process') {
        this.warnings.add(`claimed_nothing: ${messageOf(error)}`);
        this.#claimed = false;
        return UNCLAIMED;
      }
      // The claim may have run all the same, or run later.
      void this.#release();
      throw error;
    }
  }

  /**
   * Stores the letter before the handlers of a last attempt run, so that even a crash loses nothing. An event whose
   * earlier attempts ended without a word may be what kills the process: it is parked without being run.
   */
  async #prepareLastAttempt(claim: ClaimedResult): Promise<Answer | undefined> {
    if (!this.final) return undefined;
    const earlier = this.#job.replayed ?? (await this.#letter.find());
    for (const name of earlier?.handled ?? []) this.progress.handled.add(name);
    const isAbandoned = claim.abandoned > 0 || earlier?.runningUntil !== undefined;
    const cause = new AbortedError(
      'run_abandoned',
      'the process ended while the handlers of this event were running',
    );
    if (!isAbandoned || this.#job.replayed !== undefined) {
      await this.#letter.store(cause, this.#postmark(this.#runningUntil()));
      return undefined;
    }
    if ((await this.#letter.store(cause, this.#postmark())) === undefined) return undefined;
    await this.#release();
    return this.#success('parked', cause);
  }

  async #attempt(): Promise<Answer> {
    const { maxRunMs } = this.#services.settings;
    const late = new UnavailableError('deadline_reached', 'the handlers were still running at the deadline');
    this.#provisional = this.#letter.storedAs === undefined ? refuse(late) : this.#success('parked', late);
    const lease = this.#claimed ? this.#keepLease() : undefined;
    const overrun = setTimeout(() => {
      this.abort(new AbortedError('run_timeout', `the handlers had not ended after maxRunMs (${maxRunMs})`));
    }, maxRunMs);
    const finished = this.#runHandlers();
    const end = await Promise.race([finished, this.#interrupted]);
    clearTimeout(overrun);
    if (end === undefined) return this.#recordSuccess(lease);
    lease?.stop();
    if (end instanceof AbortedError) {
      // A late success still counts: whoever holds the id now need not handle the event again.
      void finished.then((error) => (error === undefined ? this.#recordSuccess(undefined) : undefined));
    }
    return this.#recordFailure(end);
  }

  #keepLease(): Lease {
    const request = { ...this.#request(), leaseMs: this.#services.settings.leaseMs };
    return keepLease(this.#services.store, request, (state) => {
      this.abort(
        state === 'lost'
          ? new AbortedError('lease_lost', 'the lease ran out and another process has taken the event')
          : new AbortedError('completed_elsewhere', 'another process has completed the event'),
      );
    });
  }

  async #runHandlers(): Promise<PosthornError | undefined> {
    const { event, routes, deadlineAt, receivedAt, rawBody } = this.#job;
    const { handled } = this.progress;
    const { attempt = 1, final } = this;
    const open = routes.filter(({ name }) => name === undefined || !handled.has(name));
    const context: HandlerContext = {
      attempt,
      final,
      signal: this.#controller.signal,
      deadlineAt,
      receivedAt,
      rawBody,
    };
    try {
      return await runHandlers(open, await this.#validated(event), context, this.progress);
    } catch (error) {
      return error instanceof DataError
        ? error
        : new InternalError('internal_error', messageOf(error), { cause: error });
    }
  }

  async #validated(event: AnyEvent): Promise<WebhookEvent<string, unknown>> {
    const entity = entityOf(event.type);
    const schema = this.#services.settings.schemas.get(entity);
    return schema === undefined ? event : { ...event, data: await validateData(schema, event.data, entity) };
  }

  async #recordSuccess(lease: Lease | undefined): Promise<Answer> {
    const processed = this.#success('processed');
    this.#provisional = processed;
    // The lease is renewed meanwhile, so that no other process takes the event while the store refuses to hear.
    const recorded = await this.#services.completions.record(this.#request());
    lease?.stop();
    if (!recorded)
      this.warnings.add('completion_pending: the store did not take the completion; it is tried again');
    // A retried event may have been parked by an earlier attempt.
    await (this.attempt === 1 ? this.#letter.remove() : this.#letter.removeAny());
    return processed;
  }

  async #recordFailure(error: PosthornError): Promise<Answer> {
    if (error.code === 'completed_elsewhere') {
      await this.#letter.removeAny();
      return this.#success('duplicate');
    }
    this.#provisional = refuse(error);
    const mustPark =
      this.final || error.code === 'handler_failed_permanently' || this.#letter.storedAs !== undefined;
    const parked = mustPark && (await this.#letter.store(error, this.#postmark())) !== undefined;
    const released = await this.#release();
    if (released === 'completed') {
      await this.#letter.remove();
      return this.#success('duplicate');
    }
    if (parked && released === 'lost') void this.#reconcile();
    return parked ? this.#success('parked', error) : refuse(error);
  }

  async #release(): Promise<ReleaseResult['state'] | undefined> {
    try {
      const request = { ...this.#request(), handled: [...this.progress.handled] };
      return (await this.#services.store.release(request)).state;
    } catch (error) {
      this.warnings.add(`release_failed: ${messageOf(error)}`);
      return undefined;
    }
  }

  #reconcile(): Promise<void> {
    const { store, settings } = this.#services;
    return this.#letter.reconcile(store, settings.leaseMs, this.#retentionMs);
  }

  #request(): { id: string; token: string; retentionMs: number } {
    return { id: this.#job.event.id, token: this.#token, retentionMs: this.#retentionMs };
  }

  #postmark(runningUntil?: number): Postmark {
    return { attempts: this.attempt ?? 0, handled: this.progress.handled, runningUntil };
  }

  #runningUntil(): number {
    return this.#services.settings.now() + this.#services.settings.maxRunMs;
  }

  #success(outcome: 'processed' | 'duplicate' | 'parked', error?: PosthornError): Answer {
    return { outcome, id: this.#job.event.id, ...(error !== undefined && { error }) };
  }
}

/** A completed id is remembered at least until its event is too old to be accepted again. */
export function retentionFor(event: AnyEvent, { retentionMs, maxEventAgeMs, now }: Settings): number {
  if (maxEventAgeMs === Number.POSITIVE_INFINITY) return retentionMs;
  return Math.max(retentionMs, createdAtMs(event) + maxEventAgeMs + RETENTION_MARGIN_MS - now());
}

function unavailable(code: UnavailableError['code'], message: string): Answer {
  return refuse(new UnavailableError(code, message));
}
