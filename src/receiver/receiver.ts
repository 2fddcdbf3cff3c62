import { Authenticator } from './authentication/authenticator.ts';
import { checkFunction } from './checks/called-functions.ts';
import { checkOptions, readDuration } from './checks/check-options.ts';
import type { DeadLetter, DeadLetters } from './dead-letters/dead-letters.ts';
import { deadLetterWarnings } from './dead-letters/exposure.ts';
import type { TypedEvent } from './events/event-types.ts';
import type { TypeFilter } from './events/type-rules.ts';
import type { KeptMiddleware } from './handling/handlers/middleware.ts';
import type { HandlerOptions } from './handling/handlers/route.ts';
import { Router } from './handling/handlers/router.ts';
import type { AcceptOptions } from './handling/ways-in/accept-options.ts';
import { ApplicationCalls } from './handling/ways-in/application-calls.ts';
import { Arrival, type ArrivalNames } from './handling/ways-in/arrival.ts';
import { deliver } from './handling/ways-in/deliver.ts';
import { DeliveryReports } from './handling/ways-in/delivery-reports.ts';
import { canReadJob } from './handling/ways-in/dispatch.ts';
import type { DispatchOptions } from './handling/ways-in/dispatch-options.ts';
import type { Foreseen } from './handling/ways-in/foresee.ts';
import type { ForeseenRerun } from './handling/ways-in/foresee-rerun.ts';
import { checkDeliveredAge, readEvent } from './handling/ways-in/read-event.ts';
import { createServices, type ReceiverServices } from './handling/ways-in/receiver-services.ts';
import type { RerunOptions } from './handling/ways-in/rerun-options.ts';
import { hasHadKeys, waitForKeyReleases } from './handling/ways-in/wait-for-key-releases.ts';
import type { Health } from './health/health.ts';
import { ReceiverHealth } from './health/receiver-health.ts';
import type { JournalEntry } from './journal/journal.ts';
import { JournalWriter } from './journal/journal-writer.ts';
import { MisdirectedDeliveries } from './outcomes/misdirected.ts';
import { type Answer, type ReplySettings, refuse, toReply } from './outcomes/outcome.ts';
import type { PendingWarnings } from './outcomes/pending-warnings.ts';
import type { ObserveOptions, Observer, Report, ReportSource } from './outcomes/report.ts';
import { Reporter } from './outcomes/reporter.ts';
import { BodyMemory } from './request/body-memory.ts';
import { checkDelivery, checkUrl, type Delivery, type Reply } from './request/delivery.ts';
import { isConnected } from './request/delivery-functions.ts';
import { exceedsOneRead, mustClose, readHead } from './request/head.ts';
import { type HeaderFields, readHeaders } from './request/headers.ts';
import { type RawBody, toBytes } from './request/raw-body.ts';
import type { Settings } from './settings.ts';
import { Activity } from './timing/activity.ts';
import { answersSent, nextBatch } from './timing/delivery-batch.ts';
import { performance } from './timing/process-clock.ts';
import { settledWithin } from './timing/time-limit.ts';

// Start at docs/how-it-works.md: the way of a delivery, file by file, and the states of a run.

/** A function of the application. Its patterns ensure that it gets only the events of its type. */
type AnyHandler = (event: never, ...others: never[]) => unknown;

/** Orders the steps of a delivery. `Receiver` in `receiver-interface.ts` has its methods with their types. */
export class WebhookReceiver {
  readonly #settings: Settings;
  readonly #replySettings: ReplySettings;
  readonly #router: Router;
  readonly #middlewares: KeptMiddleware[] = [];
  readonly #warnings: PendingWarnings;
  readonly #reports: DeliveryReports;
  readonly #activity = new Activity();
  readonly #authenticator: Authenticator;
  readonly #services: ReceiverServices;
  readonly #calls: ApplicationCalls;
  readonly #health: ReceiverHealth;
  readonly #journal: JournalWriter | undefined;
  readonly #misdirected = new MisdirectedDeliveries();
  #closed: Promise<{ abandoned: string[] }> | undefined;

  constructor(settings: Settings, warnings: PendingWarnings) {
    const { deadLetters, journal, now } = settings;
    const bodyMemory = new BodyMemory(settings.maxBufferedBytes);
    warnings.add(...deadLetterWarnings(deadLetters, settings.provider));
    this.#settings = settings;
    this.#warnings = warnings;
    this.#replySettings = {
      challenge: settings.authentication.challenge,
      retryAfterSeconds: Math.ceil(settings.retries.firstDelayMs / 1_000),
      drainMs: settings.bodyTimeoutMs,
    };
    this.#router = new Router(settings.provider.types, settings.queue !== undefined, warnings);
    const labelsOf = (type: string) => this.#router.labelsOf(type);
    const reporter = new Reporter(warnings, settings.name, settings.provider.storedName);
    this.#journal = journal && new JournalWriter(journal, now, warnings);
    this.#reports = new DeliveryReports(reporter, labelsOf, this.#activity, warnings, this.#journal);
    this.#authenticator = new Authenticator(settings, bodyMemory);
    this.#services = createServices({
      settings,
      router: this.#router,
      middlewares: this.#middlewares,
      activity: this.#activity,
      bodyMemory,
      pendingWarnings: warnings,
    });
    this.#calls = new ApplicationCalls({
      services: this.#services,
      reports: this.#reports,
      activity: this.#activity,
      begin: (source, names) => this.#begin(source, names),
    });
    const { store } = this.#services;
    this.#health = new ReceiverHealth({ store, deadLetters, journal: this.#journal, now });
  }

  /** Takes a delivery to its reply: reads its head, handles it, and reports its outcome. */
  async receive(delivery: Delivery): Promise<Reply> {
    const arrival = this.#begin('delivery');
    const { deadline } = arrival;
    try {
      checkDelivery(delivery);
      if (delivery.timeLimitMs !== undefined) deadline.shorten(delivery.timeLimitMs);
      const head = readHead(delivery.headers);
      // A large body would fill its stream during a wait, where no limit counts it. So it is read before the
      // delivery waits for a batch.
      const mayBeLarge = exceedsOneRead(head);
      if (!mayBeLarge) await nextBatch();
      const authenticate = () => this.#authenticator.authenticate(delivery, head, deadline.bodyBy);
      const answered = await deliver(this.#services, authenticate, arrival);
      if (mayBeLarge) await nextBatch();
      const { answer, bodyRead, followed, isUnfinished } = answered;
      const answerSent = isConnected(delivery, this.#warnings.addMisuse);
      if (isUnfinished) this.#reports.reportEndLater(delivery, arrival, answered, { answerSent });
      if (followed !== undefined && hasHadKeys(followed))
        await waitForKeyReleases(delivery, deadline, followed.run, this.#warnings.addMisuse);
      this.#reports.report(arrival, answered, { answerSent });
      this.#reports.keepAliveToRecord(delivery, answered);
      const isUnread = !bodyRead && mustClose(head, this.#settings.maxBodyBytes);
      return toReply(answer, isUnread || isBodyUnfinished(answer), this.#replySettings);
    } catch (error) {
      // The adapter is at fault, for example with headers in an unknown form.
      const answer = refuse(error);
      this.#reports.report(arrival, { answer }, { answerSent: true });
      return toReply(answer, true, this.#replySettings);
    } finally {
      this.#activity.end();
    }
  }

  dispatch(job: unknown, options: DispatchOptions): Promise<Report> {
    return this.#calls.dispatch(job, options);
  }

  replay(letter: DeadLetter): Promise<Report> {
    return this.#calls.replay(letter);
  }

  accept(event: RawBody | object, options: AcceptOptions): Promise<Report> {
    return this.#calls.accept(event, options);
  }

  /** For the command `posthorn events`; not a part of {@link Receiver}: what `accept` would do. */
  foresee(event: RawBody | object, options: AcceptOptions): Promise<Foreseen> {
    return this.#calls.foresee(event, options);
  }

  rerun(entry: JournalEntry, options: RerunOptions): Promise<Report> {
    return this.#calls.rerun(entry, options);
  }

  /** For the command `posthorn events`; not a part of {@link Receiver}: checks the options of `rerun`. */
  checkRerun(options: RerunOptions): void {
    this.#calls.checkRerun(options);
  }

  /**
   * For the command `posthorn events`; not a part of {@link Receiver}: what `rerun` of a handler would do.
   */
  foreseeRerun(entry: JournalEntry, options: RerunOptions): Promise<ForeseenRerun> {
    return this.#calls.foreseeRerun(entry, options);
  }

  drop(letter: DeadLetter): Promise<boolean> {
    return this.#calls.drop(letter);
  }

  async verify(
    rawBody: RawBody,
    headers: HeaderFields,
    options: { readonly url?: string | undefined } = {},
  ): Promise<TypedEvent> {
    checkOptions(options, ['url'], 'verify()');
    checkUrl(options.url, 'verify()');
    const body = toBytes(rawBody, 'rawBody');
    const values = readHeaders(headers);
    const authentic = {
      rawBody: body,
      headers: values,
      ...(await this.#authenticator.verify(body, values, options.url)),
    };
    const read = readEvent(authentic, this.#settings);
    checkDeliveredAge(read, authentic.isTimed, this.#settings);
    return read.event;
  }

  #begin(source: ReportSource, names?: ArrivalNames): Arrival {
    this.#router.freeze();
    this.#activity.begin();
    return new Arrival(this.#settings, source, this.#closed !== undefined, names);
  }

  hasSignature(headers: HeaderFields): boolean {
    try {
      return this.#settings.signature.isSent(readHeaders(headers));
    } catch {
      // A middleware can put anything into the headers. `receive` refuses them, and says so.
      return false;
    }
  }

  reportMisdirected(
    headers: HeaderFields,
    { requested, served }: { readonly requested: string; readonly served: string },
  ): void {
    if (!this.hasSignature(headers)) return;
    const error = this.#misdirected.refuse(requested, served);
    if (error === undefined) return;
    const arrival = new Arrival(this.#settings, 'delivery', this.#closed !== undefined);
    this.#reports.report(arrival, { answer: refuse(error) }, { answerSent: true });
  }

  on(pattern: string | readonly string[], handler: AnyHandler, options: HandlerOptions<never> = {}): this {
    this.#router.add([pattern].flat(), handler, options);
    return this;
  }

  onUnhandled(handler: AnyHandler): this {
    this.#router.setUnhandled({ handle: handler });
    return this;
  }

  use(middleware: AnyHandler): this {
    this.#router.checkOpen('use');
    checkFunction(middleware, 'the middleware');
    this.#middlewares.push({ handle: middleware });
    return this;
  }

  observe(observer: Observer, options: ObserveOptions = {}): this {
    this.#reports.observe(observer, options);
    return this;
  }

  eventFilters(): TypeFilter[] {
    return this.#settings.provider.types.toFilters(this.#router.patterns);
  }

  get name(): string | undefined {
    return this.#settings.name;
  }

  get deadLetters(): DeadLetters | undefined {
    return this.#settings.deadLetters;
  }

  /** True if this receiver can read a job. For queues that park failed jobs; not a part of `Receiver`. */
  canDispatch(job: unknown): boolean {
    return canReadJob(this.#services, job);
  }

  /** For `posthorn/nestjs`; not a part of {@link Receiver}: true once a handler is registered. */
  get hasHandlers(): boolean {
    return this.#router.hasHandlers;
  }

  /** For observers and the command `posthorn ids`; not a part of {@link Receiver}. */
  get settings(): Settings {
    return this.#settings;
  }

  async health(): Promise<Health> {
    return {
      provider: this.#settings.provider.name,
      closing: this.#closed !== undefined,
      running: this.#services.runs.count,
      ...(await this.#health.ask()),
      lastDelivery: this.#reports.lastDelivery,
    };
  }

  close(options: { readonly graceMs?: number | undefined } = {}): Promise<{ abandoned: string[] }> {
    checkOptions(options, ['graceMs'], 'close()');
    const { graceMs = 25_000 } = options;
    readDuration('graceMs', graceMs, { least: 0 });
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  async #close(graceMs: number): Promise<{ abandoned: string[] }> {
    const endsAt = performance.now() + graceMs;
    // If handlers take all of the grace, what came before is written all the same.
    void this.#journal?.flush(graceMs);
    const idle = this.#activity.idle().then(() => true);
    const isIdle = await settledWithin(idle, graceMs);
    const abandoned = isIdle ? [] : await this.#services.runs.abandon();
    // The process may end as soon as this promise resolves.
    await answersSent();
    // Other processes would have to wait until the lease of an unreleased key ends.
    await this.#services.keys.idle();
    await this.#journal?.close(endsAt);
    return { abandoned };
  }
}

function isBodyUnfinished({ error }: Answer): boolean {
  return error?.code === 'body_timeout' || error?.code === 'body_incomplete';
}
