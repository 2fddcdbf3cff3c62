import { setTimeout } from 'node:timers/promises';
import type { HandlerContext } from '../handling/router.ts';
import { withTimeLimit } from '../timing/time-limit.ts';

/** What a run that is late or aborted may still take, to end what it has begun. */
export const GRACE_MS = 2_000;

/** For a handler that starts after its deadline, or by a clock of its receiver's own. */
const LEAST_MS = 1_000;
/** Left of the delivery's time, so that its report can say why the handler did not begin. */
const RESERVE_MS = 200;

/** The time before the handler begins: it ends with the deadline of the delivery. */
export class StartLimit {
  readonly #signal: AbortSignal;
  readonly #endsAt: number;
  /** A timer can be a fraction of a millisecond early. */
  #hasPassed = false;

  constructor({ deadlineAt, signal }: Pick<HandlerContext, 'deadlineAt' | 'signal'>) {
    this.#signal = signal;
    this.#endsAt = performance.now() + Math.max(deadlineAt - Date.now() - RESERVE_MS, LEAST_MS);
  }

  get isOver(): boolean {
    return this.#signal.aborted || this.#hasPassed || performance.now() >= this.#endsAt;
  }

  /** Rejects with the error of `onLate` at the deadline, and with the signal's reason when it aborts. */
  within<T>(promise: Promise<T>, onLate: () => Error): Promise<T> {
    const pass = (): Error => {
      this.#hasPassed = true;
      return onLate();
    };
    return orAbort(withTimeLimit(promise, this.#endsAt - performance.now(), pass), this.#signal);
  }

  /** Waits between half of `ms` and all of it, so that those who wait do not all come back at once. */
  async pause(ms: number): Promise<void> {
    const left = Math.max(0, this.#endsAt - performance.now());
    await orAbort(setTimeout(Math.min(left, ms * (0.5 + Math.random() / 2))), this.#signal);
  }
}

/** Rejects with the signal's reason if that aborts before the promise has settled. */
export async function orAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  promise.catch(() => {});
  signal.throwIfAborted();
  let stopListening = (): void => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort);
    stopListening = () => signal.removeEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    stopListening();
  }
}

/** Waits for what cannot be called back, such as a COMMIT; after an abort for {@link GRACE_MS} more. */
export async function withGrace<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  onLate: () => Error,
): Promise<T> {
  try {
    return await orAbort(promise, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    return await withTimeLimit(promise, GRACE_MS, onLate);
  }
}
