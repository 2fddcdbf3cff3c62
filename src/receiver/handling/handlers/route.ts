import type { TypedEvent } from '../../events/event-types.ts';
import type { Rerun } from '../../outcomes/report.ts';
import type { EventIdentity } from '../../provider/event-identity.ts';

/** The second argument of a handler. Times are in milliseconds since the epoch. */
export interface HandlerContext {
  /** What the receiver knows of the event, in the same form for each provider. */
  readonly event: EventIdentity;
  /**
   * The number of this attempt to handle the event, from 1. Each claim of the event is an attempt; a
   * concurrent duplicate that waits for a run is not. In a rerun, the claims of this rerun count.
   */
  readonly attempt: number;
  /**
   * True if no further attempt is certain, by the event's age or by the number of attempts. For that number,
   * claims closer together than half the first delay of `retryScheduleMs` count once, because no retry comes
   * so soon. Six deliveries that fail within a second are attempts 1 to 6, but count once. Always true in a
   * replay and a rerun; the queue decides in a job.
   */
  readonly final: boolean;
  /**
   * Aborts when another process takes or completes the event, or takes the concurrency key of this handler,
   * or its turn to run again;
   * at `maxRunMs`, after the grace of `close()`, and when a worker gives the job up. Its reason says which.
   * It does not abort at the deadline: a late success still counts.
   */
  readonly signal: AbortSignal;
  /** When the delivery is answered at the latest; if no sender waits, when `maxRunMs` ends. */
  readonly deadlineAt: number;
  /** When the delivery arrived. */
  readonly receivedAt: number;
  /** The body as it was signed. */
  readonly rawBody: Uint8Array;
  /** Set in a rerun: the handler has handled this event before. */
  readonly rerun?: Rerun | undefined;
}

/** A registered handler: {@link Router.match} returns those of an event. */
export interface Route {
  /** Progress is kept for named handlers only. */
  readonly name: string | undefined;
  /** True if it runs in a worker, not before the answer. */
  readonly queued: boolean;
  // Methods, because TypeScript lets a method take a narrower event: the patterns ensure that it gets only
  // such events.
  handle(event: TypedEvent, context: HandlerContext): unknown;
  /** Absent if the handler may run for any number of events at once. */
  concurrencyKey?(event: TypedEvent): unknown;
}

/** A handler with a concurrency key. */
export type KeyedRoute = Route & { readonly name: string } & Required<Pick<Route, 'concurrencyKey'>>;

/** Returns true for a handler with a concurrency key: `on` has checked that it has a name. */
export function hasKey(route: Route): route is KeyedRoute {
  return route.name !== undefined && route.concurrencyKey !== undefined;
}

/** Options of `receiver.on`. */
export interface HandlerOptions<Event> {
  /**
   * Names the handler: a retry skips it once it has succeeded. The other options need a name, unless the
   * handler of an inbox brings one.
   */
  readonly name?: string | undefined;
  /** True if it runs in a worker, after the event was answered 202; false by default. */
  readonly queue?: boolean | undefined;
  /**
   * Returns the key of an event, such as the id of its resource: a non-empty string of at most 1,000
   * characters. At most one run of this handler has the key at a time, among all processes that share the
   * store, as long as its lease holds. Other events of the key wait, or come again. Any other value, also
   * `undefined`, and an error fail the event. For an event that needs no key, return its own `id`.
   */
  readonly concurrencyKey?: ((event: Event) => string | undefined) | undefined;
}

/** The options as the router gets them: `concurrencyKey` is a method, which may take a narrower event. */
export interface RouteOptions extends Omit<HandlerOptions<unknown>, 'concurrencyKey'> {
  concurrencyKey?(event: TypedEvent): unknown;
}
