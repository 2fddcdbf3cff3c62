import type { EventType, Pattern } from './providers/banking-service/catalog.ts';
import type { EventOf, KnownEvent, WebhookEvent } from './providers/banking-service/event.ts';
import type { EventData, Schemas } from './providers/banking-service/event-data.ts';
import type { FilterOf } from './providers/banking-service/event-filter.ts';
import type { NotAGenerator } from './receiver/checks/called-functions.ts';
import type { DeadLetter, DeadLetters } from './receiver/dead-letters/dead-letters.ts';
import type { PatternOf, TypedEvent } from './receiver/events/event-types.ts';
import type { SchemasByEntity } from './receiver/events/schema.ts';
import type { MiddlewareContext } from './receiver/handling/handlers/middleware.ts';
import type { HandlerContext, HandlerOptions } from './receiver/handling/handlers/route.ts';
import type { AcceptOptions } from './receiver/handling/ways-in/accept-options.ts';
import type { DispatchOptions } from './receiver/handling/ways-in/dispatch-options.ts';
import type { RerunOptions } from './receiver/handling/ways-in/rerun-options.ts';
import type { Health } from './receiver/health/health.ts';
import type { JournalEntry } from './receiver/journal/journal.ts';
import type { OptionsOf } from './receiver/options.ts';
import type { ObserveOptions, Observer, Report } from './receiver/outcomes/report.ts';
import type { Delivery, Reply } from './receiver/request/delivery.ts';
import type { HeaderFields } from './receiver/request/headers.ts';
import type { RawBody } from './receiver/request/raw-body.ts';

/**
 * Runs around each handler: `next()` runs the rest and resolves with what the handler returned. Call
 * `next()` exactly once. A middleware that throws fails the handler. A handler that throws has failed even if
 * the middleware catches the error. The receiver waits for `next()` even if the middleware does not.
 */
export type Middleware<
  S extends SchemasByEntity = Record<never, never>,
  E extends TypedEvent = KnownEvent,
> = (event: EventOf<'*', S, E>, context: MiddlewareContext, next: () => Promise<unknown>) => unknown;

/** Gets the events that no handler matched. `known` says whether the type is in the catalog. */
export type UnhandledHandler<
  S extends SchemasByEntity = Record<never, never>,
  E extends TypedEvent = KnownEvent,
> = (event: EventOf<'*', S, E>, details: { readonly known: boolean }) => unknown;

/** The patterns for `E`. Errors of the compiler call those of the default provider by their name. */
type PatternFor<E extends TypedEvent> = string extends E['type']
  ? string
  : EventType | E['type'] extends EventType & E['type']
    ? Pattern
    : PatternOf<E>;

/** The result of `receiver.verify`. In the envelope of the service the type need not be in the catalog. */
export type VerifiedEvent<E extends TypedEvent = KnownEvent> = [E] extends [WebhookEvent]
  ? E | WebhookEvent<string, EventData | E['data']>
  : E;

/** Options of `createReceiver`. Durations are in milliseconds, sizes in bytes. */
export interface ReceiverOptions<S extends SchemasByEntity = Schemas, E extends TypedEvent = KnownEvent>
  extends OptionsOf<S, E> {}

/**
 * Receives webhooks. Register handlers, then mount it with one of the adapters. `S` has the schemas, and `E`
 * is the union of the provider's events.
 */
export interface Receiver<
  S extends SchemasByEntity = Record<never, never>,
  E extends TypedEvent = KnownEvent,
> {
  /** The option `name`. */
  readonly name: string | undefined;

  /** The place where events are parked: the option `deadLetters`. */
  readonly deadLetters: DeadLetters | undefined;

  /**
   * Registers a handler. The handlers of one event run side by side. A retry skips the handlers that have
   * succeeded, if they have a `name`; a handler of an inbox (`inbox.once`) brings its name along. A handler
   * with `queue: true` runs in a worker after the event was answered 202; it needs a name and the option
   * `queue`. A handler with a `concurrencyKey` handles one event of a key at a time; it needs a name.
   *
   * @throws ConfigurationError for a pattern that matches nothing, a repeated name, and after the first
   * delivery.
   *
   * @example
   * ```ts
   * receiver.on('transfer.succeeded', ({ id, data }) => book(id, data.amount), { name: 'book' });
   * ```
   */
  on<const P extends PatternFor<E>, Result = unknown>(
    pattern: P | readonly P[],
    handler: (event: EventOf<P, S, E>, context: HandlerContext) => Result & NotAGenerator<Result>,
    options?: HandlerOptions<EventOf<P, S, E>>,
  ): this;

  /** Registers the handler of events that no pattern matched. Without it they are answered 200 `ignored`. */
  onUnhandled<Result = unknown>(
    handler: (...parameters: Parameters<UnhandledHandler<S, E>>) => Result & NotAGenerator<Result>,
  ): this;

  /**
   * Adds a middleware, which runs around each handler and around enqueueing: for spans, or for a logger that
   * knows the event. Several middlewares nest, the first one outermost. They run in the async context of the
   * caller of `receive`, `replay`, `dispatch`, `accept` or `rerun`.
   *
   * @throws ConfigurationError if `middleware` is not a function, and after the first delivery.
   *
   * @example
   * ```ts
   * receiver.use((event, context, next) => storage.run({ eventId: event.id }, next));
   * ```
   */
  use<Result = unknown>(
    middleware: (...parameters: Parameters<Middleware<S, E>>) => Result & NotAGenerator<Result>,
  ): this;

  /**
   * The events that the handlers want, as the service's `enabled_events`: for `client.webhooks.ensure`. The
   * list names every type of the catalog that a pattern matches. With a handler of `*` or `onUnhandled` it is
   * empty, which means every event. Call it once all handlers are registered, before or after the first
   * delivery.
   *
   * @throws ConfigurationError without any handler: an empty list would ask for every event.
   *
   * @example
   * ```ts
   * await client.webhooks.ensure({ url, enabled_events: receiver.eventFilters() });
   * ```
   */
  eventFilters(): FilterOf<E>[];

  /**
   * Adds an observer of every report. Failures go to `console.error` until an observer is added without
   * `keepDefaultLog`.
   *
   * @throws ConfigurationError if `observer` is not a function, and for a wrong option.
   */
  observe(observer: Observer, options?: ObserveOptions): this;

  /**
   * Authenticates a delivery, parses it and checks its age. It does not claim the event or run handlers. Give
   * `url`, the path and the query, if the option `account` reads it.
   *
   * @throws CredentialsError, SignatureError, EventError, RequestError for an unknown account, or
   * UnavailableError; ConfigurationError for headers or a body of an unknown form, for example a parsed body.
   * Their `status` is the one to answer with.
   */
  verify(
    rawBody: RawBody,
    headers: HeaderFields,
    options?: { readonly url?: string | undefined },
  ): Promise<VerifiedEvent<E>>;

  /**
   * Handles a delivery; never rejects. Adapters call it. An object that is not a delivery, for example
   * without `readBody`, is answered 500 and reported with a ConfigurationError.
   */
  receive(delivery: Delivery): Promise<Reply>;

  /**
   * Returns true if the headers hold a signature of the provider's form. It does not verify it. Returns
   * false for headers of an unknown form, which `receive` refuses. Adapters call it.
   */
  hasSignature(headers: HeaderFields): boolean;

  /**
   * Reports a delivery that got 404, because its adapter serves another path. Adapters call it. Anybody can
   * send such requests, so only those with a signature ({@link hasSignature}) are reported: in each minute
   * one for each path, and five at most. Never throws.
   */
  reportMisdirected(
    headers: HeaderFields,
    paths: { readonly requested: string; readonly served: string },
  ): void;

  /**
   * Runs the event of a dead letter through the same dedupe and the same handlers, including those with
   * `queue: true`. Removes the dead letter when they succeed. It waits for the end of the handlers. A dead
   * letter whose event may still be running is left alone (`busy`), and so is one of another provider
   * (`failed`, `provider_mismatch`).
   */
  replay(letter: DeadLetter): Promise<Report>;

  /**
   * Handles an event that the application fetched itself, for example from the sender's list after an outage:
   * an object, a text of JSON or its bytes. It takes the same way as a delivery, through the same dedupe and
   * handlers, but without a signature: whoever may call this can make any event. It waits for the end of the
   * handlers. It is a last attempt: what its handlers failed is parked, and then left to {@link replay}. An
   * event that it refuses itself (`rejected`) is only returned, and so is one whose store is away (`failed`)
   * or that another process is handling, or whose concurrency key is taken (`busy`).
   *
   * An event that is older than the store remembers may have been handled and forgotten: it is `duplicate` if
   * the store or the inboxes of all its handlers know it, and `event_too_old` otherwise, unless
   * `allowForgotten` is set.
   *
   * @throws ConfigurationError for wrong options, and for a value that cannot be an event, such as a promise.
   *
   * @example
   * ```ts
   * const report = await receiver.accept(event, { source: 'export of 2026-11-26' });
   * if (report.status >= 400) console.error(report.event?.id, report.code);
   * ```
   */
  accept(event: RawBody | object, options: AcceptOptions): Promise<Report>;

  /**
   * Runs named handlers of a handled event once more, after a bug in them was fixed. Other handlers do not
   * run, and nothing else changes: the event stays handled, a delivery of it stays a `duplicate`, and a
   * failure is only reported. It waits for the end of the handlers, and runs those with `queue: true` itself.
   * Each gets `context.rerun`. Observers get a report for each handler, and `rerun` resolves with all of them
   * joined.
   *
   * With the option `run`, each handler runs once for each event under that name, and is `duplicate` after
   * that: the same calls can be repeated after an interruption. An event that is being handled is left alone
   * (`busy`, `event_running`), and so is a handler that another rerun is running for it. If some of its
   * handlers have not finished, a delivery of it waits meanwhile, or is `busy`. Without the store nothing
   * runs, also with `onStoreFailure: 'process'`.
   *
   * An entry without a body is `rejected` (`body_missing`), and so is a handler that has not finished
   * (`handler_unfinished`): a retry or {@link replay} runs it. A handler of an inbox with the option `latest`
   * skips an event again if it has handled a newer one: its report has `superseded`.
   *
   * @throws ConfigurationError for wrong options, for a name that no handler has, and for a value that is not
   * an entry.
   *
   * @example
   * ```ts
   * for await (const entry of journal.list({ type: 'transfer.*', since }))
   *   await receiver.rerun(entry, { handlers: ['book'], run: 'fix-1127' });
   * ```
   */
  rerun(entry: JournalEntry, options: RerunOptions): Promise<Report>;

  /**
   * Runs the queued handlers of a job, in a worker, and completes the id of its event. The queue acts on the
   * outcome of the report. `processed`, `duplicate` and `parked` end the job. `busy`, and `failed` with
   * `closing`, `run_closed`, `store_unavailable` or `provider_mismatch`, put it back without counting an
   * attempt. Any other failure counts as a failed attempt. A job whose concurrency key is busy does not wait
   * for it: it is `busy` with `key_busy`. `job` is the value that `Queue.add` got, or its JSON.
   *
   * @throws ConfigurationError for wrong options.
   */
  dispatch(job: unknown, options: DispatchOptions): Promise<Report>;

  /**
   * Gives the event of a dead letter up: claims its id, completes it in the store, and removes the dead
   * letter. Resolves with true if this call gave the event up: no handler was running, and none will run.
   * Resolves with false if there is no dead letter, if the event may be running, for example in a replay (the
   * dead letter stays), or if the event was handled meanwhile (the dead letter is removed).
   *
   * @throws UnavailableError if the store does not answer, or for a dead letter of another provider: the dead
   * letter stays. DeadLetterError if the dead letters fail; ConfigurationError for a value that is not a dead
   * letter.
   */
  drop(letter: DeadLetter): Promise<boolean>;

  /**
   * Tells whether the store answers, how many events are being handled, how many dead letters wait, and when
   * the last delivery came. It does not write, does not count as a delivery, never rejects, and takes 2
   * seconds at most, even while the receiver closes. Calls at the same time share one question to the store
   * and one count of the dead letters.
   */
  health(): Promise<Health>;

  /**
   * Refuses new deliveries with 503 and waits for the running ones, for `graceMs` (25,000 by default) at
   * most. Then it aborts them. `abandoned` has the ids of events whose handlers had not ended. What waits for
   * the journal is written in that time, for 5 seconds at most, or within a second after it.
   */
  close(options?: { readonly graceMs?: number | undefined }): Promise<{ readonly abandoned: string[] }>;
}

/** The part of a receiver that an adapter uses. */
export type Mountable = Pick<Receiver, 'receive'> &
  Partial<Pick<Receiver, 'hasSignature' | 'reportMisdirected'>>;
