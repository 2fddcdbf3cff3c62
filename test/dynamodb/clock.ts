import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, beforeAll } from 'vitest';

const skew = new AsyncLocalStorage<number>();
const realNow = Date.now;

/** Lets a file of tests run code by clocks that are wrong. Timers, and what the SDK measures, stay right. */
export function useSkewedClocks(): void {
  beforeAll(() => {
    Date.now = () => realNow() + (skew.getStore() ?? 0);
  });
  afterAll(() => {
    Date.now = realNow;
  });
}

/** Runs work as on a machine whose clock is wrong by so much. */
export function withSkew<Result>(skewMs: number, work: () => Result): Result {
  return skew.run(skewMs, work);
}
