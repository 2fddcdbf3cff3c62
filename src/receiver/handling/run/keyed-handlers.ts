import type { Claim } from '../../dedupe/claim.ts';
import type { ConfirmableLease } from '../../dedupe/lease.ts';
import { AbortedError, isPosthornError, type PosthornError, UnavailableError } from '../../errors.ts';
import { toReportedError } from '../../outcomes/outcome.ts';
import { keyStart } from '../../provider/event-key.ts';
import { performance } from '../../timing/process-clock.ts';
import { settledWithin } from '../../timing/time-limit.ts';
import { show } from '../../values/foreign-values.ts';
import { failHandler, RunContext, runHandler, type ValidEvent } from '../handlers/handlers.ts';
import type { HandlerContext, KeyedRoute } from '../handlers/route.ts';
import { checkKey } from '../keys/concurrency-keys.ts';
import type { ConcurrencyLimit } from '../keys/concurrency-limit.ts';
import { type HeldKey, KeyRequest } from '../keys/key-wait.ts';
import { type Run, taken } from './run.ts';

/**
 * The handlers of a run that have a concurrency key. Each waits for its own key, and then for a permit. While
 * they wait and no handler of the run is running, the run is `acquiring`, and `maxRunMs` does not count.
 */
export class KeyedHandlers {
  readonly #run: Run;
  readonly #event: ValidEvent;
  readonly #attempt: Pick<HandlerContext, 'attempt' | 'final'>;
  /** The lease of the run, joined to those that its caller holds. */
  #lease: ConfirmableLease;
  /** When the handlers must begin, by the monotonic clock. */
  readonly #until: number;
  #running = 0;
  #waiting = 0;

  constructor(
    run: Run,
    event: ValidEvent,
    attempt: Pick<HandlerContext, 'attempt' | 'final'>,
    lease: ConfirmableLease,
  ) {
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
    const { input } = this.#run;
    let key: string;
    try {
      key = keyStart(input.identity) + checkKey(route.concurrencyKey(this.#event));
    } catch (error) {
      return failHandler(route.name, error, this.#run.progress);
    }
    this.#note({ waiting: 1 });
    try {
      return await this.#runWithKey(route, key);
    } catch (error) {
      this.#note({ waiting: -1 });
      return isPosthornError(error) ? error : toReportedError(error);
    }
  }

  /**
   * Resolves with the error of the handler once it has ended. Rejects if the handler cannot begin: without
   * its key or its permit, or if its event is taken.
   */
  async #runWithKey(route: KeyedRoute, key: string): Promise<PosthornError | undefined> {
    const { keyReleases, services } = this.#run;
    const request = new KeyRequest(this.#run, this.#until);
    const startedAt = performance.now();
    for (;;) {
      const held = await services.keys.acquire(route.name, key, request);
      const keyWaitMs = performance.now() - startedAt;
      keyReleases.push(held.givenBack);
      let permits = 0;
      try {
        if (services.permits !== undefined) permits = await this.#acquirePermit(services.permits);
        let keyLease: ConfirmableLease = held.lease;
        while (this.#lease.needsConfirmation || keyLease.needsConfirmation)
          keyLease = await this.#confirmLeases(held.claim, keyLease);
        // No await between these checks and the handler: see `claimAndHandle` in `handle-event.ts`.
        this.#checkEvent();
        if (keyLease.state === 'held') return await this.#start(route, held, permits, keyWaitMs);
      } catch (error) {
        this.#giveBack(held, permits);
        throw error;
      }
      // Another process took the key meanwhile, so the event asks for it again.
      this.#giveBack(held, permits);
    }
  }

  /** Confirms the lease of the event and that of its key; resolves with the latter. */
  async #confirmLeases(keyClaim: Claim, keyLease: ConfirmableLease): Promise<ConfirmableLease> {
    if (this.#lease.needsConfirmation)
      this.#lease = await this.#run.claim.confirmOrProceedUnclaimed(this.#lease);
    return keyLease.needsConfirmation ? await keyClaim.confirmOrProceedUnclaimed(keyLease) : keyLease;
  }

  /** Throws if the run has been aborted, or another process has taken the event. */
  #checkEvent(): void {
    this.#run.interruption.throwIfEnded();
    if (this.#lease.state !== 'held') throw takenMeanwhile(this.#lease.state);
  }

  async #acquirePermit(concurrency: ConcurrencyLimit): Promise<number> {
    const { input, interruption, resources } = this.#run;
    if (!input.origin.isLimited) return 0;
    return concurrency.acquire(1, {
      until: this.#until,
      interruption,
      countBody: () => resources.countBody(),
    });
  }

  /** Starts a handler, which gives back its key and its permits at its end. Never rejects. */
  #start(
    route: KeyedRoute,
    key: HeldKey,
    permits: number,
    keyWaitMs: number,
  ): Promise<PosthornError | undefined> {
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
    const context = new RunContext(input.identity, input, this.#attempt, signal);
    const ended = runHandler(route, this.#event, context, progress, keyWaitMs);
    const stopListening = interruption.onEnd(() => void this.#limitOverrun(name, key, ended));
    void ended.then(() => {
      stopListening();
      this.#giveBack(key, permits);
      this.#note({ running: -1 });
    });
    return ended;
  }

  /** After its run was aborted, a handler keeps its key until it ends, for another `maxRunMs` at most. */
  async #limitOverrun(name: string, key: HeldKey, ended: Promise<unknown>): Promise<void> {
    const { input, services } = this.#run;
    const { maxRunMs } = this.#run;
    const inTime = ended.then(() => true);
    if ((await settledWithin(inTime, maxRunMs, { keepsAlive: false })) === true) return;
    const late = `the handler "${name}" of the event ${show(input.identity.id)} has not ended`;
    services.pendingWarnings.add(
      `key_overrun: ${late} ${maxRunMs} ms (maxRunMs) after its signal had aborted; another event of its key may run now`,
    );
    this.#giveBack(key, 0);
  }

  #giveBack(key: HeldKey, permits: number): void {
    if (permits > 0) this.#run.services.permits?.release(permits);
    key.release();
  }

  #note({ running = 0, waiting = 0 }: { readonly running?: number; readonly waiting?: number }): void {
    const { interruption, resources } = this.#run;
    this.#running += running;
    this.#waiting += waiting;
    if (this.#waiting === 0) resources.uncountBody();
    // An aborted run has ended, although its handlers may be running.
    if (interruption.endReason !== undefined) return;
    if (this.#running > 0) {
      this.#run.enter({ step: 'running' });
      interruption.startLimit(this.#run.maxRunMs);
    } else if (this.#waiting > 0) {
      this.#run.enter({ step: 'acquiring' });
      interruption.stopLimit();
    }
  }
}

/** The source of the signal of a handler with a key. It is created when it is first read. */
class KeySignal {
  readonly #run: { readonly signal: AbortSignal };
  #key: AbortController | undefined;
  #signal: AbortSignal | undefined;

  constructor(run: { readonly signal: AbortSignal }) {
    this.#run = run;
  }

  get signal(): AbortSignal {
    this.#key ??= new AbortController();
    this.#signal ??= AbortSignal.any([this.#run.signal, this.#key.signal]);
    return this.#signal;
  }

  /** Aborts the signal of this handler alone. */
  abort(reason: AbortedError): void {
    this.#key ??= new AbortController();
    this.#key.abort(reason);
  }
}

/** Returns the error of a handler whose event another process took or completed while it waited. */
function takenMeanwhile(state: 'lost' | 'completed'): PosthornError {
  const reason = taken(state);
  return state === 'completed' ? reason : new UnavailableError('event_running', reason.message);
}

function keyTaken(name: string): AbortedError {
  const message = `the lease of the key of the handler "${name}" ran out and another process has taken the key`;
  return new AbortedError('lease_lost', message);
}
