import { Authenticator } from './authentication/authenticator.ts';
import { holdsSignature } from './authentication/signature.ts';
import { checkOptions, invalidOption, readDuration } from './check-options.ts';
import type { DeadLetter, DeadLetters } from './dead-letters/dead-letters.ts';
import { ConfigurationError, RequestError } from './errors.ts';
import type { Pattern } from './events/catalog.ts';
import { type AnyEvent, checkAge, createdAtMs, type EventOf, parseEvent } from './events/event.ts';
import { type EventFilter, toEventFilters } from './events/event-filter.ts';
import type { Schemas } from './events/schema.ts';
import { show } from './foreign-values.ts';
import { DeliveredEvents } from './handling/delivered-events.ts';
import { DispatchedJobs, type DispatchOptions, readAttempt } from './handling/dispatched-jobs.ts';
import { EventHandling } from './handling/event-handling.ts';
import { firstWarnings } from './handling/first-warnings.ts';
import type { KeptMiddleware, Middleware } from './handling/middleware.ts';
import { nameOf } from './handling/named-handler.ts';
import { ParkedEvents } from './handling/parked-events.ts';
import { checkFunction, type HandlerContext, Router, type UnhandledHandler } from './handling/router.ts';
import { Run } from './handling/run.ts';
import { beginTrace, shortenDeadline, type Trace, toReport } from './handling/trace.ts';
import type { Health, LastDelivery } from './health/health.ts';
import { LetterCount } from './health/letter-count.ts';
import { StoreProbe } from './health/store-probe.ts';
import { type ReceiverOptions, readOptions, type Settings } from './options.ts';
import { MisdirectedLimit } from './outcomes/misdirected-limit.ts';
import { type Answer, type ReplySettings, refuse, toReply } from './outcomes/outcome.ts';
import { PendingWarnings } from './outcomes/pending-warnings.ts';
import type { ObserveOptions, Observer, Report, ReportSource } from './outcomes/report.ts';
import { Reporter } from './outcomes/reporter.ts';
import type { Receiver } from './receiver-interface.ts';
import { BodyMemory } from './request/body-memory.ts';
import { checkDelivery, type Delivery, type Reply } from './request/delivery.ts';
import { isConnected, waitUntil } from './request/delivery-functions.ts';
import { type HeaderFields, type HeaderValues, readHeaders } from './request/headers.ts';
import { type RawBody, toBytes } from './request/raw-body.ts';
import { declaredLength, exceedsOneRead, mustClose } from './request/refusals.ts';
import { Activity } from './timing/activity.ts';
import { settledWithin } from './timing/time-limit.ts';
import { nextTurn } from './timing/turn.ts';

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
  const warnings = new PendingWarnings();
  return new WebhookReceiver<S>(readOptions(options, warnings.addMisuse), warnings);
}

class WebhookReceiver<S extends Schemas> implements Receiver<S> {
  readonly #settings: Settings;
  readonly #replySettings: ReplySettings;
  readonly #router = new Router();
  readonly #middlewares: KeptMiddleware[] = [];
  readonly #warnings: PendingWarnings;
  readonly #reporter: Reporter;
  readonly #activity = new Activity();
  readonly #authenticator: Authenticator;
  readonly #handling: EventHandling;
  readonly #delivered: DeliveredEvents;
  readonly #parked: ParkedEvents;
  readonly #jobs: DispatchedJobs;
  readonly #storeProbe: StoreProbe;
  readonly #letterCount: LetterCount | undefined;
  #lastDelivery: LastDelivery | undefined;
  #closed: Promise<{ abandoned: string[] }> | undefined;
  readonly #misdirectedLimit = new MisdirectedLimit();

  constructor(settings: Settings, warnings: PendingWarnings) {
    this.#settings = settings;
    this.#warnings = warnings;
    this.#replySettings = {
      challenge: settings.credentials.challenge,
      retryAfterSeconds: Math.ceil((settings.retryScheduleMs[0] ?? 60_000) / 1_000),
      drainMs: settings.bodyTimeoutMs,
    };
    warnings.add(...firstWarnings(settings));
    this.#reporter = new Reporter(warnings);
    const bodyMemory = new BodyMemory(settings.maxBufferedBytes);
    this.#authenticator = new Authenticator(settings, bodyMemory);
    this.#handling = new EventHandling(settings, this.#router, this.#middlewares, this.#activity, bodyMemory);
    this.#delivered = new DeliveredEvents(this.#handling);
    this.#parked = new ParkedEvents(this.#handling);
    this.#jobs = new DispatchedJobs(this.#handling);
    const { deadLetters, now } = settings;
    this.#storeProbe = new StoreProbe(this.#handling.store, now);
    this.#letterCount = deadLetters && new LetterCount(deadLetters, now);
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

  use(middleware: Middleware<S>): this {
    this.#router.checkOpen('use');
    checkFunction(middleware, 'the middleware');
    this.#middlewares.push({ handle: middleware });
    return this;
  }

  eventFilters(): EventFilter[] {
    if (!this.#router.isEmpty) return toEventFilters(this.#router.patterns);
    throw new ConfigurationError(
      'eventFilters() was called before any handler was registered: an empty list would mean every event. ' +
        'Register the handlers first',
    );
  }

  observe(observer: Observer, options: ObserveOptions = {}): this {
    this.#reporter.add(observer, options);
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
    const trace = this.#beginTrace('delivery');
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
      trace.answerSent = isConnected(delivery, this.#warnings.addMisuse);
      // First, because the platform's waitUntil may throw: the delivery is then answered 500.
      if (trace.unfinished && !trace.joined) this.#reportEndLater(delivery, trace);
      this.#report(answer, trace);
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
    if (!holdsSignature(readHeaders(headers), signatureHeader)) return;
    // `show` makes a short copy: a path may be as long as a head, and is kept.
    const path = show(requested);
    const leftOut = this.#misdirectedLimit.admit(path);
    if (leftOut === undefined) return;
    const trace = beginTrace(now(), deadlineMs, { closing: false, source: 'delivery' });
    trace.answerSent = true;
    const error = new RequestError(
      'not_found',
      `a delivery with a signature came for ${path}, and this receiver serves ${show(served)}; further ones for ` +
        `this path are not reported for a minute${leftOut > 0 ? `; ${leftOut} for more paths were left out before` : ''}`,
    );
    this.#report(refuse(error), trace);
  }

  #report(answer: Answer, trace: Trace): void {
    if (trace.keyIndex !== undefined) {
      const { outcome, error } = answer;
      this.#lastDelivery = { receivedAt: trace.receivedAt, outcome, code: error?.code };
    }
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
      return begun instanceof Run ? await this.#delivered.finish(begun, trace) : begun;
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
    return this.#delivered.begin(authentic, trace);
  }

  replay(letter: DeadLetter): Promise<Report> {
    return this.#reportAnswer('replay', (trace) => this.#parked.replay(letter, trace));
  }

  async dispatch(job: unknown, options: DispatchOptions): Promise<Report> {
    const attempt = readAttempt(options);
    return this.#reportAnswer('job', (trace) => this.#jobs.run(job, attempt, trace));
  }

  /** Handles what no sender waits for. */
  async #reportAnswer(source: ReportSource, handle: (trace: Trace) => Promise<Answer>): Promise<Report> {
    const trace = this.#beginTrace(source);
    const answer = await handle(trace).catch(refuse);
    const report = toReport(answer, trace, false);
    this.#reporter.emit(report);
    this.#activity.end();
    return report;
  }

  async drop(letter: DeadLetter): Promise<boolean> {
    this.#activity.begin();
    try {
      return await this.#parked.drop(letter);
    } finally {
      this.#activity.end();
    }
  }

  async health(): Promise<Health> {
    const [store, deadLetters] = await Promise.all([this.#storeProbe.ask(), this.#letterCount?.ask()]);
    return {
      closing: this.#closed !== undefined,
      store,
      running: this.#handling.runs.count,
      deadLetters,
      lastDelivery: this.#lastDelivery,
    };
  }

  close(options: { readonly graceMs?: number } = {}): Promise<{ abandoned: string[] }> {
    checkOptions(options, ['graceMs'], 'close()');
    const graceMs = readDuration('graceMs', options.graceMs, 25_000, 0);
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  #beginTrace(source: ReportSource): Trace {
    this.#router.freeze();
    const closing = this.#closed !== undefined;
    const trace = beginTrace(this.#settings.now(), this.#settings.deadlineMs, { closing, source });
    this.#activity.begin();
    return trace;
  }

  /** Only the delivery that started the run reports its late result. */
  #reportEndLater(delivery: Delivery, trace: Trace): void {
    this.#activity.begin();
    const reported = this.#reportEnd(trace).then(() => this.#activity.end());
    waitUntil(delivery, reported, this.#warnings.addMisuse);
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
    const abandoned = await this.#handling.runs.abandon();
    // The process may end with this promise, and an answer to a large body waits for a turn before it is
    // sent: two turns later all answers have been handed to their adapters.
    await nextTurn();
    await nextTurn();
    return { abandoned };
  }
}

function isBodyUnfinished({ error }: Answer): boolean {
  return error?.code === 'body_timeout' || error?.code === 'body_incomplete';
}
