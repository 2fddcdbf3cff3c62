import { onTestFinished, vi } from 'vitest';

/**
 * Puts `performance.now` forward until the test is over, by as much as the returned function is told: as if
 * the process had stood still for so long. Timers that run already do not notice it.
 */
export function forwardedClock(): (ms: number) => void {
  let forwardMs = 0;
  const now = performance.now.bind(performance);
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => now() + forwardMs);
  onTestFinished(() => spy.mockRestore());
  return (ms) => {
    forwardMs += ms;
  };
}
