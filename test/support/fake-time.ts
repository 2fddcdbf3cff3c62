import { onTestFinished, vi } from 'vitest';
import { replaceClock } from '../../src/receiver/timing/process-clock.ts';

/** Short enough that what takes some turns of the event loop is done before the next step. */
const STEP_MS = 20;

/**
 * Replaces the timers of the process until the test is over, and posthorn's clock by them, but never its
 * turns of the event loop.
 */
export function fakeTimers(options?: Parameters<typeof vi.useFakeTimers>[0]): void {
  vi.useFakeTimers(options);
  const { clearInterval, clearTimeout, performance, setInterval, setTimeout } = globalThis;
  const putBack = replaceClock({ clearInterval, clearTimeout, performance, setInterval, setTimeout });
  onTestFinished(() => {
    putBack();
    vi.useRealTimers();
  });
}

/**
 * Stops the timers and the monotonic clock until the test is over, and returns the function that lets time
 * pass. Receivers are called without sockets then, which would need real time.
 */
export function fakeTime(): (ms: number) => Promise<void> {
  const timers = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const;
  fakeTimers({ toFake: [...timers, 'performance'] });
  return async (ms) => {
    for (let passedMs = 0; passedMs < ms; passedMs += STEP_MS) await vi.advanceTimersByTimeAsync(STEP_MS);
  };
}

/** Lets time pass until the promise has settled. */
export async function passUntil<T>(pass: (ms: number) => Promise<void>, promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const end = (): void => {
    isSettled = true;
  };
  promise.then(end, end);
  while (!isSettled) await pass(STEP_MS);
  return promise;
}

/**
 * Lets the time of {@link fakeTime} pass by itself until the test is over: fast, and a step for each round of
 * the event loop. So no machine is too busy for a short time limit.
 */
export function flowingTime(): void {
  const pass = fakeTime();
  let isOver = false;
  const flow = async (): Promise<void> => {
    while (!isOver) await pass(STEP_MS);
  };
  const flowing = flow();
  onTestFinished(async () => {
    isOver = true;
    await flowing;
  });
}
