import type { Lease } from '../dedupe/lease.ts';
import { AbortedError, isPosthornError, type PosthornError, UnavailableError } from '../errors.ts';
import { toReportedError } from '../outcomes/outcome.ts';
import { settledWithin } from '../timing/time-limit.ts';
import { show } from '../values/foreign-values.ts';
import { checkKey } from './concurrency-keys.ts';
import { failHandler, runHandler, type ValidEvent } from './handlers.ts';
import type { HeldKey, KeyRequest } from './key-queue.ts';
import type { HandlerContext, KeyedRoute } from './route.ts';
import type { Run } from './run.ts';

/** A handler that has begun. `ended` never rejects. */
interface Begun {
  readonly ended: Promise<PosthornError | undefined>;
}

/**
 * The handlers of a run that have a concurrency key. Each waits for its own key, and then for a permit. While
 * they wait and no handler of the run is running, the run is `acquiring`, and `maxRunMs` does not count.
 */
export class KeyedHandlers {
  readonly #run: Run;
  readonly #event: ValidEvent;
  readonly #context: HandlerContext;
  /** The lease of the event. */
  #lease: Lease;
  /** When the handlers must begin, by the monotonic clock. */
  readonly #until: number;
  #running = 0;
  #waiting = 0;

  constructor(run: Run, event: ValidEvent, context: HandlerContext, lease: Lease) {
    this.#run = run;
    this.#event = event;
    this.#context = context;
    this.#lease = lease;
    this.#until = run.input.deadline.handlersBeginBy;
  }

  /** Notes that handlers of the run, with or without a key, are running until the promise settles. */
  noteRunning(ended: Promise<unknown>): void {
    this.#note({ running: 1 });
    void ended.then(() => this.#note({ running: -1 }));
  }

  /**
   * Runs a handler once it has its key and a permit. Resolves with its error, or with the reason why it could
   * not begin. Never rejects.
   */
  async run(route: KeyedRoute): Promise<PosthornError | undefined> {
    let key: string;
    try {
      key = checkKey(route.concurrencyKey(this.#event));
    } catch (error) {
      return failHandler(route.name, error, this.#run.progress);
    }
    let begun: Begun;
    this.#note({ waiting: 1 });
    try {
      begun = await this.#begin(route, key);
    } catch (error) {
      return isPosthornError(error) ? error : toReportedError(error);
    } finally {
      this.#note({ waiting: -1 });
    }
    return begun.ended;
  }

  /** Begins a handler. Rejects if it cannot get its key or its permit, or if its event is taken. */
  async #begin(route: KeyedRoute, key: string): Promise<Begun> {
    const { claim, interruption, services } = this.#run;
    const startedAt = performance.now();
    for (;;) {
      const held = await services.keys.acquire(route.name, key, this.#request());
      let permits = 0;
      let hasBegun = false;
      try {
        permits = await this.#acquirePermit();
        let keyLease = held.lease;
        while (this.#lease.isOld || keyLease.isOld) {
          if (this.#lease.isOld) this.#lease = await claim.confirmOrGoOn(this.#lease);
          if (keyLease.isOld) keyLease = await held.claim.confirmOrGoOn(keyLease);
        }
        // No await between these checks and the handler: see `handle` in `handle-event.ts`.
        interruption.check();
        if (this.#lease.state !== 'held') throw takenMeanwhile(this.#lease.state);
        hasBegun = keyLease.state === 'held';
        if (hasBegun) return { ended: this.#start(route, held, permits, performance.now() - startedAt) };
      } finally {
        if (!hasBegun) this.#giveBack(held, permits);
      }
    }
  }

  #request(): KeyRequest {
    const { input, interruption, scope, services } = this.#run;
    const { createdAt, deadline, origin } = input;
    return {
      createdAt,
      until: this.#until,
      claimWaitMs: deadline.claimWaitMs(services.store.commandTimeoutMs),
      interruption,
      waitsIfBusy: origin.waitsForKeys,
      countBody: () => scope.countBody(),
    };
  }

  async #acquirePermit(): Promise<number> {
    const { input, interruption, scope, services } = this.#run;
    if (services.concurrency === undefined || !input.origin.isLimited) return 0;
    const wait = { until: this.#until, interruption, countBody: () => scope.countBody() };
    return services.concurrency.acquire(1, wait);
  }

  #start(
    route: KeyedRoute,
    held: HeldKey,
    permits: number,
    keyWaitMs: number,
  ): Promise<PosthornError | undefined> {
    const { progress, warnings } = this.#run;
    const { name } = route;
    warnings.push(...held.warnings);
    held.onTaken = () => this.#run.abort(keyTaken(name));
    const ended = runHandler(route, this.#event, this.#context, progress, keyWaitMs);
    this.noteRunning(ended);
    void ended.then(() => this.#giveBack(held, permits));
    void this.#limitOverrun(name, held, ended);
    return ended;
  }

  /** Keeps the key for an aborted handler until it ends, but only for another `maxRunMs`. */
  async #limitOverrun(name: string, held: HeldKey, ended: Promise<unknown>): Promise<void> {
    const { input, interruption, services } = this.#run;
    const { maxRunMs } = services.settings;
    try {
      await interruption.orAbort(ended);
    } catch {
      const inTime = ended.then(() => true);
      if ((await settledWithin(inTime, maxRunMs, { keepsAlive: false })) === true) return;
      const late = `the handler "${name}" of the event ${show(input.id)} has not ended`;
      services.pendingWarnings.add(
        `key_overrun: ${late} ${maxRunMs} ms (maxRunMs) after its signal had aborted; another event of its key may run now`,
      );
      this.#giveBack(held, 0);
    }
  }

  #giveBack(held: HeldKey, permits: number): void {
    if (permits > 0) this.#run.services.concurrency?.release(permits);
    this.#run.keyReleases.push(held.release());
  }

  #note({ running = 0, waiting = 0 }: { readonly running?: number; readonly waiting?: number }): void {
    const { interruption, scope, services } = this.#run;
    this.#running += running;
    this.#waiting += waiting;
    if (this.#waiting === 0) scope.uncountBody();
    // An aborted run has ended, although its handlers may be running.
    if (interruption.endedBy !== undefined) return;
    if (this.#running > 0) {
      this.#run.state = { step: 'running' };
      interruption.limit(services.settings.maxRunMs);
    } else if (this.#waiting > 0) {
      this.#run.state = { step: 'acquiring' };
      interruption.unlimit();
    }
  }
}

/** The lease of the event was lost, or the event completed, while its handler waited. */
function takenMeanwhile(state: 'lost' | 'completed'): PosthornError {
  return state === 'completed'
    ? new AbortedError('completed_elsewhere', 'another process has completed the event')
    : new UnavailableError('event_running', 'the lease ran out and another process has taken the event');
}

function keyTaken(name: string): AbortedError {
  const message = `the lease of the key of the handler "${name}" ran out and another process has taken the key`;
  return new AbortedError('lease_lost', message);
}
