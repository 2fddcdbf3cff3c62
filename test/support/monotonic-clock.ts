import { onTestFinished, vi } from 'vitest';

/**
 * Puts `performance.now` forward until the test is over, by as much as the returned function is told: as if
 * the process had stood still for so long. Timers that run already do not notice it.
 */
export function forwardedClock(): (ms: number) => void {
  return replaceClock(performance.now.bind(performance));
}

/** Does the same with a clock that stands still otherwise, at a whole millisecond: sums are exact then. */
export function stoppedClock(): (ms: number) => void {
  const stoppedAt = Math.round(performance.now());
  return replaceClock(() => stoppedAt);
}

function replaceClock(now: () => number): (ms: number) => void {
  let forwardMs = 0;
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => now() + forwardMs);
  onTestFinished(() => spy.mockRestore());
  return (ms) => {
    forwardMs += ms;
  };
}
