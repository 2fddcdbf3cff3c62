import type { HandlerContext } from '../../../receiver/handling/handlers/route.ts';
import { jittered } from '../../../receiver/timing/jitter.ts';
import { pause, performance } from '../../../receiver/timing/process-clock.ts';
import { withTimeLimit } from '../../../receiver/timing/time-limit.ts';
import { Timer } from '../../../receiver/timing/timer.ts';
import { Deferred } from '../../kit/deferred.ts';
import { timeToBegin } from '../../kit/inbox/once.ts';

/** The time that a run has to end its transaction after it is late or aborted. */
export const GRACE_MS = 2_000;

/**
 * A run listens to its signal only after this time, because the signal of a delivery is created when it is
 * first read: nearly all runs have ended by then, and need none.
 */
const LISTEN_AFTER_MS = 100;

/** The pause before a row is tried again that another run holds. Meanwhile the connection is free. */
export const ROW_PAUSE_MS = 400;

/** The rejection when the time to begin is over. Callers replace it by their own error. */
export const LATE: Error = new Error('PostgreSQL did not answer before the deadline');

/**
 * Ends the waits of a run: when its signal aborts, and when the time to begin the handler is over. One timer
 * and one listener serve all of them.
 */
export class RunLimits {
  readonly #context: Pick<HandlerContext, 'signal'>;
  readonly #endsAt: number;
  readonly #aborted = new Deferred<never>();
  /** Rejects with the signal's reason, or with {@link LATE}. */
  readonly #stopped = new Deferred<never>();
  #timer: Timer;
  #isLate = false;
  #stopListening: () => void = () => {};

  constructor(context: Pick<HandlerContext, 'deadlineAt' | 'signal'>) {
    this.#context = context;
    const now = performance.now();
    this.#endsAt = now + timeToBegin(context);
    // An unhandled rejection would end the process.
    this.#stopped.promise.catch(() => {});
    this.#aborted.promise.catch(() => {});
    this.#timer = new Timer(now + LISTEN_AFTER_MS, () => {
      this.#timer = new Timer(this.#endsAt, () => {
        this.#isLate = true;
        this.#stopped.reject(LATE);
      });
      this.#listen();
    });
  }

  get signal(): AbortSignal {
    return this.#context.signal;
  }

  /** True if there is no time left to begin the handler. */
  get isOver(): boolean {
    return this.signal.aborted || this.#isLate || performance.now() >= this.#endsAt;
  }

  /** Rejects with {@link LATE} when the time to begin is over, or with the reason of the signal's abort. */
  within<T>(promise: Promise<T>): Promise<T> {
    return Promise.race([promise, this.#stopped.promise]);
  }

  /** Rejects with the signal's reason if that aborts before the promise has settled. */
  orAbort<T>(promise: Promise<T>): Promise<T> {
    return Promise.race([promise, this.#aborted.promise]);
  }

  /** Waits for what cannot be called back, such as a COMMIT; after an abort for {@link GRACE_MS} more. */
  async withGrace<T>(promise: Promise<T>, onLate: () => Error): Promise<T> {
    try {
      return await this.orAbort(promise);
    } catch (error) {
      if (!this.signal.aborted) throw error;
      return await withTimeLimit(promise, GRACE_MS, onLate);
    }
  }

  /** Waits for `ms` ({@link jittered}), but not past `end` or the time to begin. */
  async pause(ms: number, end?: Promise<void>): Promise<void> {
    const left = Math.max(0, this.#endsAt - performance.now());
    const elapsed = pause(Math.min(left, jittered(ms)));
    await this.orAbort(end === undefined ? elapsed : Promise.race([elapsed, end]));
  }

  #listen(): void {
    const { signal } = this;
    const listener = (): void => {
      this.#stopped.reject(signal.reason);
      this.#aborted.reject(signal.reason);
    };
    signal.addEventListener('abort', listener);
    this.#stopListening = () => signal.removeEventListener('abort', listener);
    if (signal.aborted) listener();
  }

  end(): void {
    this.#timer.clear();
    this.#stopListening();
  }
}
