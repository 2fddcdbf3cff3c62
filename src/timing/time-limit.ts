import { setImmediate } from './turn.ts';

/**
 * A timer that is made only if the event loop turns before it is cleared. What is limited here nearly always settles within
 * the turn in which it began, and a delivery needs half a dozen limits: made eagerly, their timers cost as much as the HMAC.
 */
export class Timer {
  static #fresh: Timer[] = [];

  readonly #dueAt: number;
  #onDue: (() => void) | undefined;
  #timeout: NodeJS.Timeout | undefined;

  /** Calls `onDue` at `dueAt`, by the monotonic clock in milliseconds, unless it is cleared before. */
  constructor(dueAt: number, onDue: () => void) {
    this.#dueAt = dueAt;
    this.#onDue = onDue;
    if (Timer.#fresh.push(this) === 1) setImmediate(Timer.#startFresh);
  }

  clear(): void {
    // What it would have called is let go at once: it holds the whole delivery.
    this.#onDue = undefined;
    if (this.#timeout !== undefined) clearTimeout(this.#timeout);
  }

  static #startFresh(this: void): void {
    const fresh = Timer.#fresh;
    Timer.#fresh = [];
    const now = performance.now();
    for (const timer of fresh) {
      if (timer.#onDue !== undefined) timer.#timeout = setTimeout(timer.#onDue, timer.#dueAt - now);
    }
  }
}

/** Rejects with what `onTimeout` makes if the promise has not settled within `ms` milliseconds. */
export function withTimeLimit<T>(promise: Promise<T>, ms: number, onTimeout: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = new Timer(performance.now() + ms, () => reject(onTimeout()));
    settle(promise, timer, resolve, reject);
  });
}

/** What the promise resolves to, or undefined if it has not settled within `ms` milliseconds. */
export function settledWithin<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = new Timer(performance.now() + ms, () => resolve(undefined));
    settle(promise, timer, resolve, reject);
  });
}

function settle<T>(
  promise: Promise<T>,
  timer: Timer,
  resolve: (value: T) => void,
  reject: (error: unknown) => void,
): void {
  promise.then(
    (value) => {
      timer.clear();
      resolve(value);
    },
    (error: unknown) => {
      timer.clear();
      reject(error);
    },
  );
}
