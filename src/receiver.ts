import { Authenticator } from './authentication/authenticator.ts';
import { holdsSignature } from './authentication/signature.ts';
import { checkOptions, invalidOption, readDuration, readInteger } from './check-options.ts';
import type { DeadLetter, DeadLetters } from './dead-letters/dead-letters.ts';
import { ConfigurationError, RequestError, show } from './errors.ts';
import type { Pattern } from './events/catalog.ts';
import { type AnyEvent, checkAge, createdAtMs, type EventOf, parseEvent } from './events/event.ts';
import type { Schemas } from './events/schema.ts';
import { firstWarnings } from './handling/first-warnings.ts';
import { nameOf } from './handling/named-handler.ts';
import { type JobAttempt, Processor } from './handling/processor.ts';
import { type HandlerContext, Router, type UnhandledHandler } from './handling/router.ts';
import { Run } from './handling/run.ts';
import { beginTrace, shortenDeadline, type Trace, toReport } from './handling/trace.ts';
import { type ReceiverOptions, readOptions, type Settings } from './options.ts';
import { type Answer, type ReplySettings, refuse, toReply } from './outcomes/outcome.ts';
import type { Observer, Report } from './outcomes/report.ts';
import { Reporter } from './outcomes/reporter.ts';
import { BodyMemory } from './request/body-memory.ts';
import { checkDelivery, type Delivery, type Reply } from './request/delivery.ts';
import { type HeaderFields, type HeaderValues, readHeaders } from './request/headers.ts';
import { type RawBody, toBytes } from './request/raw-body.ts';
import { declaredLength, exceedsOneRead, mustClose } from './request/refusals.ts';
import { Activity } from './timing/activity.ts';
import { settledWithin } from './timing/time-limit.ts';
import { nextTurn } from './timing/turn.ts';

/** What a worker says of a job that it has `receiver.dispatch` run. */
export interface DispatchOptions {
  /** The number of this attempt to run the job, from 1. */
  readonly attempt: number;
  /**
   * Whether it is the last attempt of the queue. The letter is then stored before the handlers run, and taken
   * out when they succeed.
   */
  readonly final: boolean;
  /** Gives the job up: its handlers are aborted, and it is to be put back (`run_closed`). */
  readonly signal?: AbortSignal | undefined;
}

/** Receives webhooks: register handlers, then mount it with one of the adapters. */
export interface Receiver<S extends Schemas = Record<never, never>> {
  /** Where events are parked: the option `deadLetters`. */
  readonly deadLetters: DeadLetters | undefined;

  /**
   * Registers a handler. Handlers of one event run side by side; a retry runs only those that have not
   * finished, as far as they bear a `name`. A handler of an inbox (`inbox.once`) brings its name along. One
   * with `queue: true` runs in a worker, after the event was answered 202; it needs a name and the option
   * `queue`.
   *
   * @throws ConfigurationError for a pattern that matches nothing, a repeated name, and after the first
   * delivery.
   *
   * @example
   * ```ts
   * receiver.on('transfer.succeeded', async (event) => book(event.data.id, event.data.amount), { name: 'book'
   * });
   * ```
   */
  on<const P extends Pattern>(
    pattern: P | readonly P[],
    handler: (event: EventOf<P, S>, context: HandlerContext) => unknown,
    options?: { readonly name?: string; readonly queue?: boolean },
  ): this;

  /** Registers the handler of events that no pattern matched. Without it they are answered 200 `ignored`. */
  onUnhandled(handler: UnhandledHandler<S>): this;

  /** Adds an observer of every report. Without any, failures go to `console.error`. */
  observe(observer: Observer): this;

  /**
   * Authenticates a delivery, checks its age and parses it; nothing is claimed and no handler runs.
   *
   * @throws CredentialsError, SignatureError, EventError or UnavailableError; ConfigurationError for headers
   * or a body in no known form, for example a parsed body.
   */
  verify(rawBody: RawBody, headers: HeaderFields): Promise<AnyEvent>;

  /**
   * Handles a delivery; never rejects. Adapters call it. A delivery that is none, for example without
   * `readBody`, is answered 500, and reported with a ConfigurationError.
   */
  receive(delivery: Delivery): Promise<Reply>;

  /**
   * Reports a delivery that came for another path than its adapter serves, and got 404. Adapters call it.
   * Only the first one is reported, and only if its signature header holds 64 hex digits.
   *
   * @throws ConfigurationError for headers in no known form.
   */
  reportMisdirected(
    headers: HeaderFields,
    paths: { readonly requested: string; readonly served: string },
  ): void;

  /**
   * Runs a parked event through the same handlers, those with `queue: true` included, and the same dedupe,
   * and takes the letter out when they succeed. It waits for the end of the handlers; a letter whose event
   * may still be running is left alone (`busy`).
   */
  replay(letter: DeadLetter): Promise<Report>;

  /**
   * Runs the queued handlers of a job, in a worker, and completes the id of its event. What the report says
   * of the outcome is for the queue to act on: `processed`, `duplicate` and `parked` end the job; `busy`, and
   * `failed` with `closing`, `run_closed` or `store_unavailable`, put it back without counting the attempt;
   * any other failure is an attempt that failed. `job` is what `Queue.add` got, or its JSON.
   *
   * @throws ConfigurationError for wrong options.
   */
  dispatch(job: unknown, options: DispatchOptions): Promise<Report>;

  /**
   * Gives a parked event up: its id is completed in the store, and the letter is taken out. False if there
   * was none, or if its event may still be running.
   *
   * @throws UnavailableError or DeadLetterError.
   */
  drop(letter: DeadLetter): Promise<boolean>;

  /**
   * Refuses new deliveries with 503 and waits for the running ones, for `graceMs` (25,000 by default) at
   * most; then aborts them. `abandoned` has the ids of events whose handlers had not ended.
   */
  close(options?: { readonly graceMs?: number }): Promise<{ readonly abandoned: string[] }>;
}

/**
 * Creates a receiver.
 *
 * @throws ConfigurationError for a wrong or unknown option.
 *
 * @example
 * ```ts
 * const receiver = createReceiver({ signingKey: process.env.SIGNING_KEY });
 * receiver.on('transfer.succeeded', (event) => console.log(event.data.id));
 * ```
 */
export function createReceiver<const S extends Schemas = Record<never, never>>(
  options: ReceiverOptions<S>,
): Receiver<S> {
  return new WebhookReceiver<S>(readOptions(options));
}

class WebhookReceiver<S extends Schemas> implements Receiver<S> {
  readonly #settings: Settings;
  readonly #replySettings: ReplySettings;
  readonly #router = new Router();
  readonly #reporter: Reporter;
  readonly #activity = new Activity();
  readonly #authenticator: Authenticator;
  readonly #processor: Processor;
  #closed: Promise<{ abandoned: string[] }> | undefined;
  #hasReportedMisdirected = false;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#replySettings = {
      challenge: settings.credentials.challenge,
      retryAfterSeconds: Math.ceil((settings.retryScheduleMs[0] ?? 60_000) / 1_000),
      drainMs: settings.bodyTimeoutMs,
    };
    this.#reporter = new Reporter(firstWarnings(settings));
    const bodyMemory = new BodyMemory(settings.maxBufferedBytes);
    this.#authenticator = new Authenticator(settings, bodyMemory);
    this.#processor = new Processor(settings, this.#router, this.#activity, bodyMemory);
  }

  get deadLetters(): DeadLetters | undefined {
    return this.#settings.deadLetters;
  }

  on<const P extends Pattern>(
    pattern: P | readonly P[],
    handler: (event: EventOf<P, S>, context: HandlerContext) => unknown,
    options: { readonly name?: string; readonly queue?: boolean } = {},
  ): this {
    checkOptions(options, ['name', 'queue'], 'on()');
    const { name = nameOf(handler), queue } = options;
    this.#router.add([pattern].flat(), { name, queued: this.#readQueued({ name, queue }), handle: handler });
    return this;
  }

  #readQueued({ name, queue = false }: { readonly name?: string; readonly queue?: boolean }): boolean {
    if (typeof queue !== 'boolean')
      throw invalidOption('queue of on()', `must be true or false, got ${show(queue)}`);
    if (!queue) return false;
    if (name === undefined)
      throw invalidOption('name of on()', 'is needed with queue: true: jobs say by name what is to run');
    if (this.#settings.queue === undefined) {
      throw new ConfigurationError(
        'on() with queue: true needs the option queue of createReceiver, also in a worker: ' +
          'for example createBullQueue of posthorn/bullmq',
      );
    }
    return true;
  }

  onUnhandled(handler: UnhandledHandler<S>): this {
    this.#router.setUnhandled({ handle: handler });
    return this;
  }

  observe(observer: Observer): this {
    this.#reporter.add(observer);
    return this;
  }

  async verify(rawBody: RawBody, headers: HeaderFields): Promise<AnyEvent> {
    const body = toBytes(rawBody, 'rawBody');
    await this.#authenticator.verify(body, readHeaders(headers));
    const event = parseEvent(body);
    checkAge(event, this.#settings.now() - createdAtMs(event), this.#settings.maxEventAgeMs);
    return event;
  }

  async receive(delivery: Delivery): Promise<Reply> {
    const trace = this.#beginTrace(true);
    try {
      checkDelivery(delivery);
      if (delivery.timeLimitMs !== undefined) shortenDeadline(trace, delivery.timeLimitMs);
      const headers = readHeaders(delivery.headers);
      const length = declaredLength(headers);
      // Deliveries are handled in batches. Several large bodies would exceed the caches of a processor: such
      // a delivery waits for the batch only before its answer.
      const mayBeLarge = exceedsOneRead(headers, length);
      if (!mayBeLarge) await nextTurn();
      const answer = await this.#handle(delivery, headers, length, trace);
      if (mayBeLarge) await nextTurn();
      trace.answerSent = delivery.isConnected?.() ?? true;
      this.#report(answer, trace);
      if (trace.unfinished && !trace.joined) this.#reportEndLater(delivery, trace);
      const isUnread = !trace.bodyRead && mustClose(headers, length, this.#settings.maxBodyBytes);
      return toReply(answer, isUnread || isBodyUnfinished(answer), this.#replySettings);
    } catch (error) {
      // The adapter is at fault, for example with headers in no known form.
      const refused = refuse(error);
      trace.answerSent = true;
      this.#report(refused, trace);
      return toReply(refused, true, this.#replySettings);
    } finally {
      this.#activity.end();
    }
  }

  reportMisdirected(
    headers: HeaderFields,
    { requested, served }: { readonly requested: string; readonly served: string },
  ): void {
    const { now, deadlineMs, signatureHeader } = this.#settings;
    if (this.#hasReportedMisdirected || !holdsSignature(readHeaders(headers), signatureHeader)) return;
    this.#hasReportedMisdirected = true;
    const trace = beginTrace(now(), deadlineMs, { closing: false, hasSender: true });
    trace.answerSent = true;
    const error = new RequestError(
      'not_found',
      `a delivery with a signature came for ${show(requested)}, and this receiver serves ${show(served)}; ` +
        'further ones are not reported',
    );
    this.#report(refuse(error), trace);
  }

  #report(answer: Answer, trace: Trace): void {
    this.#reporter.emit(toReport(answer, trace, false));
  }

  /**
   * Waits for the run without holding the body, which stays behind in `#authenticateAndBegin`: hundreds of
   * deliveries may wait for the same run.
   */
  async #handle(
    delivery: Delivery,
    headers: HeaderValues,
    length: number | undefined,
    trace: Trace,
  ): Promise<Answer> {
    try {
      const begun = await this.#authenticateAndBegin(delivery, headers, length, trace);
      return begun instanceof Run ? await this.#processor.finish(begun, trace) : begun;
    } catch (error) {
      return refuse(error);
    }
  }

  /**
   * Authenticates a delivery, then begins or joins the run of its event; gives an answer where it needs none.
   */
  async #authenticateAndBegin(
    delivery: Delivery,
    headers: HeaderValues,
    length: number | undefined,
    trace: Trace,
  ): Promise<Run | Answer> {
    const authentic = await this.#authenticator.authenticate(delivery, headers, length, trace);
    return this.#processor.begin(authentic, trace);
  }

  replay(letter: DeadLetter): Promise<Report> {
    return this.#reportAnswer((trace) => this.#processor.replay(letter, trace));
  }

  async dispatch(job: unknown, options: DispatchOptions): Promise<Report> {
    const attempt = readAttempt(options);
    return this.#reportAnswer((trace) => this.#processor.dispatch(job, attempt, trace));
  }

  /** Handles what no sender waits for. */
  async #reportAnswer(handle: (trace: Trace) => Promise<Answer>): Promise<Report> {
    const trace = this.#beginTrace(false);
    const answer = await handle(trace).catch(refuse);
    const report = toReport(answer, trace, false);
    this.#reporter.emit(report);
    this.#activity.end();
    return report;
  }

  drop(letter: DeadLetter): Promise<boolean> {
    return this.#processor.drop(letter);
  }

  close(options: { readonly graceMs?: number } = {}): Promise<{ abandoned: string[] }> {
    checkOptions(options, ['graceMs'], 'close()');
    const graceMs = readDuration('graceMs', options.graceMs, 25_000, 0);
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  #beginTrace(hasSender: boolean): Trace {
    this.#router.freeze();
    const closing = this.#closed !== undefined;
    const trace = beginTrace(this.#settings.now(), this.#settings.deadlineMs, { closing, hasSender });
    this.#activity.begin();
    return trace;
  }

  /** Only the delivery that started the run reports its late result. */
  #reportEndLater(delivery: Delivery, trace: Trace): void {
    this.#activity.begin();
    const reported = this.#reportEnd(trace).then(() => this.#activity.end());
    delivery.waitUntil?.(reported);
  }

  async #reportEnd(trace: Trace): Promise<void> {
    const { run } = trace;
    const answer = await run?.answer.settled();
    if (answer !== undefined && run?.attempt !== undefined) {
      this.#reporter.emit(toReport(answer, trace, true));
    }
  }

  async #close(graceMs: number): Promise<{ abandoned: string[] }> {
    const idle = this.#activity.idle().then(() => true);
    if (await settledWithin(idle, graceMs)) return { abandoned: [] };
    const abandoned = await this.#processor.abandon();
    // The process may end with this promise, and an answer to a large body waits for a turn before it is
    // sent: two turns later all answers have been handed to their adapters.
    await nextTurn();
    await nextTurn();
    return { abandoned };
  }
}

function readAttempt(options: DispatchOptions): JobAttempt {
  checkOptions(options, ['attempt', 'final', 'signal'], 'dispatch()');
  const { final, signal } = options;
  const attempt = readInteger('attempt of dispatch()', options.attempt, 1, Number.MAX_SAFE_INTEGER);
  if (typeof final !== 'boolean')
    throw invalidOption('final of dispatch()', `must be true or false, got ${show(final)}`);
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw invalidOption('signal of dispatch()', `must be an AbortSignal, got ${show(signal)}`);
  return { attempt, final, signal };
}

function isBodyUnfinished({ error }: Answer): boolean {
  return error?.code === 'body_timeout' || error?.code === 'body_incomplete';
}
