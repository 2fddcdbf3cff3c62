import { checkFunction } from '../../checks/called-functions.ts';
import { checkOptions, invalidOption } from '../../checks/check-options.ts';
import { ConfigurationError, UnavailableError } from '../../errors.ts';
import type { TypedEvent } from '../../events/event-types.ts';
import { matchesPattern } from '../../events/pattern.ts';
import type { TypeLabels, TypeRules } from '../../events/type-rules.ts';
import type { PendingWarnings } from '../../outcomes/pending-warnings.ts';
import { show } from '../../values/foreign-values.ts';
import { nameOf, takeNameOf } from './named-handler.ts';
import type { Route, RouteOptions } from './route.ts';

interface PatternRoute extends Route {
  readonly patterns: readonly string[];
}

/** The handler of `onUnhandled` as the router keeps it: a method, which may take a narrower event. */
export interface Fallback {
  handle(event: TypedEvent, details: { readonly known: boolean }): unknown;
}

/** Finds the handlers of an event. */
export class Router {
  readonly #routes: PatternRoute[] = [];
  /** The patterns of all handlers. */
  readonly #patterns: string[] = [];
  readonly #names = new Set<string>();
  /** The routes found so far for types of the list. */
  readonly #matches = new Map<string, readonly Route[]>();
  #unhandled: Route | undefined;
  #frozen = false;
  readonly #hasQueue: boolean;
  readonly #types: TypeRules;
  readonly #warnings: PendingWarnings;

  /** `hasQueue` says whether handlers may be queued. `types` is the list of the provider. */
  constructor(types: TypeRules, hasQueue: boolean, warnings: PendingWarnings) {
    this.#types = types;
    this.#hasQueue = hasQueue;
    this.#warnings = warnings;
  }

  /**
   * Adds a handler; throws {@link ConfigurationError} for a wrong pattern or option, a repeated name, or if
   * frozen.
   */
  add(patterns: readonly string[], handle: Route['handle'], options: RouteOptions): void {
    checkOptions(options, ['name', 'queue', 'concurrencyKey'], 'on()');
    const { name = nameOf(handle), queue = false, concurrencyKey } = options;
    this.#checkQueue(queue, name);
    checkConcurrencyKey(concurrencyKey, name);
    this.checkOpen('on');
    checkFunction(handle, 'the handler');
    if (patterns.length === 0) throw new ConfigurationError('on() needs at least one pattern');
    for (const pattern of patterns) this.#types.checkPattern(pattern);
    // Each receiver has one router, which stands for it here.
    const warning = takeNameOf(handle, this);
    if (name !== undefined) this.#addName(name);
    if (warning !== undefined) this.#warnings.add(warning);
    this.#patterns.push(...patterns);
    const route = { name, queued: queue, handle, patterns };
    this.#routes.push(concurrencyKey === undefined ? route : { ...route, concurrencyKey });
  }

  #checkQueue(queue: unknown, name: string | undefined): void {
    if (typeof queue !== 'boolean')
      throw invalidOption('queue of on()', `must be true or false, got ${show(queue)}`);
    if (queue && name === undefined)
      throw invalidOption(
        'name of on()',
        'is needed with queue: true: a job names the handlers that are to run',
      );
    if (queue && !this.#hasQueue) {
      throw new ConfigurationError(
        'on() with queue: true needs the option queue of createReceiver, also in a worker: ' +
          'for example createBullQueue of posthorn/bullmq',
      );
    }
  }

  setUnhandled(fallback: Fallback): void {
    this.checkOpen('onUnhandled');
    checkFunction(fallback.handle, 'the onUnhandled handler');
    if (this.#unhandled !== undefined)
      throw new ConfigurationError(
        'onUnhandled() was called before: one function gets all events that no handler matched',
      );
    this.#unhandled = {
      name: undefined,
      queued: false,
      handle: (event, context) => fallback.handle(event, { known: this.#types.has(context.event.type) }),
    };
  }

  /** Forbids new handlers from now on: they would have missed events in silence. */
  freeze(): void {
    this.#frozen = true;
  }

  /** The names of the handlers that have one. */
  get names(): ReadonlySet<string> {
    return this.#names;
  }

  get hasHandlers(): boolean {
    return this.#routes.length > 0 || this.#unhandled !== undefined;
  }

  /**
   * The patterns of all handlers. `onUnhandled` counts as `*`, because it gets all other events. Throws
   * {@link ConfigurationError} if there are none.
   */
  get patterns(): readonly string[] {
    if (!this.hasHandlers) {
      throw new ConfigurationError(
        'eventFilters() was called before any handler was registered: an empty list would mean every event. ' +
          'Register the handlers first',
      );
    }
    const patterns = this.#patterns;
    return this.#unhandled === undefined ? patterns : [...patterns, '*'];
  }

  /** Does the same as {@link match}, but throws UnavailableError if no handler is registered at all. */
  matchAny(type: string): readonly Route[] {
    if (this.hasHandlers) return this.match(type);
    const message = 'no handler is registered: call on() or onUnhandled() before the first delivery';
    throw new UnavailableError('no_handlers', message);
  }

  /**
   * Returns the handlers for a type, which begin in the order of their registration and run side by side. If
   * there are none, returns that of `onUnhandled`.
   */
  match(type: string): readonly Route[] {
    const known = this.#matches.get(type);
    if (known !== undefined) return known;
    const routes = this.#find(type);
    // Types that are not in the list are unlimited in number, so they are matched each time.
    if (this.#frozen && this.#types.has(type)) this.#matches.set(type, routes);
    return routes;
  }

  #find(type: string): readonly Route[] {
    const routes = this.#routes.filter(({ patterns }) =>
      patterns.some((pattern) => matchesPattern(pattern, type)),
    );
    return routes.length === 0 && this.#unhandled !== undefined ? [this.#unhandled] : routes;
  }

  /** The labels of a type for metrics, which are few. */
  labelsOf(type: string): TypeLabels {
    return this.#types.labelsOf(type, this.#patterns);
  }

  /** Throws {@link ConfigurationError} once frozen. */
  checkOpen(method: string): void {
    if (this.#frozen) {
      throw new ConfigurationError(
        `${method}() was called after the first delivery, which it would have missed: register handlers and middleware first`,
      );
    }
  }

  #addName(name: unknown): void {
    if (typeof name !== 'string' || name === '')
      throw new ConfigurationError('the name of a handler must be a non-empty string');
    if (this.#names.has(name)) {
      throw new ConfigurationError(
        `the handler name "${name}" is taken: progress is kept by name, so each handler needs its own`,
      );
    }
    this.#names.add(name);
  }
}

function checkConcurrencyKey(concurrencyKey: unknown, name: string | undefined): void {
  if (concurrencyKey === undefined) return;
  if (typeof concurrencyKey !== 'function')
    throw invalidOption(
      'concurrencyKey of on()',
      `must be a function that returns the key of an event, got ${show(concurrencyKey)}`,
    );
  if (name === undefined)
    throw invalidOption(
      'name of on()',
      'is needed with concurrencyKey: all processes know the keys of a handler by its name',
    );
}
