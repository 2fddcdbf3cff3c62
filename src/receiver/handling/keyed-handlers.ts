import type { Lease } from '../dedupe/lease.ts';
import { AbortedError, isPosthornError, type PosthornError, UnavailableError } from '../errors.ts';
import { toReportedError } from '../outcomes/outcome.ts';
import { settledWithin } from '../timing/time-limit.ts';
import { show } from '../values/foreign-values.ts';
import { checkKey } from './concurrency-keys.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import { failHandler, RunContext, runHandler, type ValidEvent } from './handlers.ts';
import type { HeldKey, KeyRequest } from './key-wait.ts';
import type { HandlerContext, KeyedRoute } from './route.ts';
import type { Run } from './run.ts';

/** A handler that has begun. */
interface Begun {
  readonly name: string;
  readonly key: HeldKey;
  /** Never rejects. */
  readonly ended: Promise<PosthornError | undefined>;
}

/**
 * The handlers of a run that have a concurrency key. Each waits for its own key, and then for a permit. While
 * they wait and no handler of the run is running, the run is `acquiring`, and `maxRunMs` does not count.
 */
export class KeyedHandlers {
  readonly #run: Run;
  readonly #event: ValidEvent;
  readonly #attempt: Pick<HandlerContext, 'attempt' | 'final'>;
  /** The lease of the event. */
  #lease: Lease;
  /** When the handlers must begin, by the monotonic clock. */
  readonly #until: number;
  #running = 0;
  #waiting = 0;

  constructor(run: Run, event: ValidEvent, attempt: Pick<HandlerContext, 'attempt' | 'final'>, lease: Lease) {
    this.#run = run;
    this.#event = event;
    this.#attempt = attempt;
    this.#lease = lease;
    this.#until = run.input.deadline.handlersBeginBy;
  }

  /** Notes that handlers without a key are running until the promise settles. */
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
      this.#note({ waiting: -1 });
      return isPosthornError(error) ? error : toReportedError(error);
    }
    return begun.ended;
  }

  /** Begins a handler. Rejects if it cannot get its key or its permit, or if its event is taken. */
  async #begin(route: KeyedRoute, key: string): Promise<Begun> {
    const { claim, interruption, keyReleases, services } = this.#run;
    const startedAt = performance.now();
    for (;;) {
      const held = await services.keys.acquire(route.name, key, this.#request());
      const keyWaitMs = performance.now() - startedAt;
      keyReleases.push(held.givenBack);
      let permits = 0;
      let hasBegun = false;
      try {
        if (services.concurrency !== undefined) permits = await this.#acquirePermit(services.concurrency);
        let keyLease = held.lease;
        while (this.#lease.isOld || keyLease.isOld) {
          if (this.#lease.isOld) this.#lease = await claim.confirmOrGoOn(this.#lease);
          if (keyLease.isOld) keyLease = await held.claim.confirmOrGoOn(keyLease);
        }
        // No await between these checks and the handler: see `handle` in `handle-event.ts`.
        interruption.check();
        if (this.#lease.state !== 'held') throw takenMeanwhile(this.#lease.state);
        hasBegun = keyLease.state === 'held';
        if (hasBegun) return this.#start(route, held, permits, keyWaitMs);
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
      claimWaitMs: () => deadline.claimWaitMs(services.store.commandTimeoutMs),
      interruption,
      waitsIfBusy: origin.waitsForKeys,
      countBody: () => scope.countBody(),
    };
  }

  async #acquirePermit(concurrency: ConcurrencyLimit): Promise<number> {
    const { input, interruption, scope } = this.#run;
    if (!input.origin.isLimited) return 0;
    return concurrency.acquire(1, { until: this.#until, interruption, countBody: () => scope.countBody() });
  }

  #start(route: KeyedRoute, key: HeldKey, permits: number, keyWaitMs: number): Begun {
    const { input, interruption, progress, warnings } = this.#run;
    const { name } = route;
    const signal = new KeySignal(interruption);
    warnings.push(...key.warnings);
    key.onTaken = () => {
      const reason = keyTaken(name);
      warnings.push(`lease_lost: ${reason.message}`);
      signal.abort(reason);
    };
    this.#note({ running: 1, waiting: -1 });
    const context = new RunContext(input, this.#attempt, signal);
    const ended = runHandler(route, this.#event, context, progress, keyWaitMs);
    const begun = { name, key, ended };
    const stopListening = interruption.onEnd(() => void this.#limitOverrun(begun));
    void ended.then(() => {
      stopListening();
      this.#giveBack(key, permits);
      this.#note({ running: -1 });
    });
    return begun;
  }

  /** Keeps the key of a handler whose run was aborted until it ends, but only for another `maxRunMs`. */
  async #limitOverrun({ name, key, ended }: Begun): Promise<void> {
    const { input, services } = this.#run;
    const { maxRunMs } = services.settings;
    const inTime = ended.then(() => true);
    if ((await settledWithin(inTime, maxRunMs, { keepsAlive: false })) === true) return;
    const late = `the handler "${name}" of the event ${show(input.id)} has not ended`;
    services.pendingWarnings.add(
      `key_overrun: ${late} ${maxRunMs} ms (maxRunMs) after its signal had aborted; another event of its key may run now`,
    );
    this.#giveBack(key, 0);
  }

  #giveBack(key: HeldKey, permits: number): void {
    if (permits > 0) this.#run.services.concurrency?.release(permits);
    key.release();
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

/** The source of the signal of a handler with a key. It is created when it is first read. */
class KeySignal {
  readonly #run: { readonly signal: AbortSignal };
  readonly #key = new AbortController();
  #signal: AbortSignal | undefined;

  constructor(run: { readonly signal: AbortSignal }) {
    this.#run = run;
  }

  get signal(): AbortSignal {
    this.#signal ??= AbortSignal.any([this.#run.signal, this.#key.signal]);
    return this.#signal;
  }

  /** Aborts the signal of this handler alone. */
  abort(reason: AbortedError): void {
    this.#key.abort(reason);
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
