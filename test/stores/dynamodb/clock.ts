import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, beforeAll } from 'vitest';

const clock = new AsyncLocalStorage<() => number>();
const realNow = Date.now;

/** Lets a file of tests run code by clocks that are wrong. Timers, and what the SDK measures, stay right. */
export function useSkewedClocks(): void {
  beforeAll(() => {
    Date.now = () => (clock.getStore() ?? realNow)();
  });
  afterAll(() => {
    Date.now = realNow;
  });
}

/** Runs work as on a machine whose clock is wrong by so much. */
export function withSkew<Result>(skewMs: number, work: () => Result): Result {
  return clock.run(() => realNow() + skewMs, work);
}

/** Runs work on a machine whose clock stands still. */
export function atTime<Result>(time: number, work: () => Result): Result {
  return clock.run(() => time, work);
}
