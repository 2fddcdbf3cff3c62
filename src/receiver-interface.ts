import type { DeadLetter, DeadLetters } from './dead-letters/dead-letters.ts';
import type { Pattern } from './events/catalog.ts';
import type { AnyEvent, EventOf } from './events/event.ts';
import type { EventFilter } from './events/event-filter.ts';
import type { Schemas } from './events/schema.ts';
import type { DispatchOptions } from './handling/dispatch-options.ts';
import type { Middleware } from './handling/middleware.ts';
import type { HandlerContext, UnhandledHandler } from './handling/router.ts';
import type { Health } from './health/health.ts';
import type { ObserveOptions, Observer, Report } from './outcomes/report.ts';
import type { Delivery, Reply } from './request/delivery.ts';
import type { HeaderFields } from './request/headers.ts';
import type { RawBody } from './request/raw-body.ts';

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
   * receiver.on('transfer.succeeded', ({ id, data }) => book(id, data.amount), { name: 'book' });
   * ```
   */
  on<const P extends Pattern>(
    pattern: P | readonly P[],
    handler: (event: EventOf<P, S>, context: HandlerContext) => unknown,
    options?: { readonly name?: string; readonly queue?: boolean },
  ): this;

  /** Registers the handler of events that no pattern matched. Without it they are answered 200 `ignored`. */
  onUnhandled(handler: UnhandledHandler<S>): this;

  /**
   * Adds a middleware, which runs around each handler and around the way into the queue: for spans, or for a
   * logger that knows the event. Several nest, the first one outermost. It runs in the async context of the
   * caller of `receive`, `replay` or `dispatch`.
   *
   * @throws ConfigurationError for what is no function, and after the first delivery.
   *
   * @example
   * ```ts
   * receiver.use((event, context, next) => storage.run({ eventId: event.id }, next));
   * ```
   */
  use(middleware: Middleware<S>): this;

  /**
   * What the handlers want, as the service's `enabled_events`: for `client.webhooks.ensure`. Every type of
   * the catalog that a pattern matches is named; with a handler of `*` or `onUnhandled` the list is empty,
   * which means every event. Call it once all handlers are registered, before the first delivery or after it.
   *
   * @throws ConfigurationError while there is no handler: an empty list would ask for every event.
   *
   * @example
   * ```ts
   * await client.webhooks.ensure({ url, enabled_events: receiver.eventFilters() });
   * ```
   */
  eventFilters(): EventFilter[];

  /**
   * Adds an observer of every report. Failures go to `console.error` until an observer is added without
   * `keepDefaultLog`.
   *
   * @throws ConfigurationError for what is no function, and for a wrong option.
   */
  observe(observer: Observer, options?: ObserveOptions): this;

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
   * Only one whose signature header holds 64 hex digits is reported, and in each minute the first one for
   * each of five paths: anybody can send such requests.
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
   * Gives a parked event up: claims its id, completes it in the store, and takes the letter out. True if this
   * call gave the event up: no handler was running, and none will run. False if there is no letter, or if the
   * event may be running, by a replay for example: then the letter stays. False also if the event was handled
   * meanwhile: then the letter is taken out.
   *
   * @throws UnavailableError if the store gives no answer: the letter stays. DeadLetterError if the dead
   * letters fail; ConfigurationError for what is not a letter.
   */
  drop(letter: DeadLetter): Promise<boolean>;

  /**
   * Tells whether the store answers, how many events are being handled, how many letters wait, and when the
   * last delivery came. It writes nothing, counts as no delivery, never rejects, and takes 2 seconds at most,
   * also while the receiver closes. Calls at the same time share their questions.
   */
  health(): Promise<Health>;

  /**
   * Refuses new deliveries with 503 and waits for the running ones, for `graceMs` (25,000 by default) at
   * most; then aborts them. `abandoned` has the ids of events whose handlers had not ended.
   */
  close(options?: { readonly graceMs?: number }): Promise<{ readonly abandoned: string[] }>;
}

/** The part of a receiver that an adapter uses. */
export type Mountable = Pick<Receiver, 'receive'> & Partial<Pick<Receiver, 'reportMisdirected'>>;
