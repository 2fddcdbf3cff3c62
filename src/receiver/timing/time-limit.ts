import { performance } from './process-clock.ts';
import { Timer, type TimerOptions } from './timer.ts';

/**
 * Calls `onTimeout` if the promise has not settled within `ms` milliseconds, and rejects with the error that
 * it returns. If it returns a number, it is called again after that many milliseconds.
 */
export function withTimeLimit<T>(
  promise: Promise<T>,
  ms: number,
  onTimeout: () => Error | number,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = new Timer(performance.now() + ms, () => {
      const end = onTimeout();
      if (typeof end === 'number') timer.postpone(performance.now() + end);
      else reject(end);
    });
    settle(promise, timer, resolve, reject);
  });
}

/** Resolves with undefined if the promise has not settled within `ms` milliseconds. */
export function settledWithin<T>(
  promise: Promise<T>,
  ms: number,
  options?: TimerOptions,
): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = new Timer(performance.now() + ms, () => resolve(undefined), options);
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
