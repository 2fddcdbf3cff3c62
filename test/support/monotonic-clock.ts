import { onTestFinished } from 'vitest';
import { replaceClock } from '../../src/receiver/timing/process-clock.ts';

/**
 * Puts the monotonic clock of posthorn forward until the test is over, by as much as the returned function is
 * told: as if the process had stood still for so long. Timers that run already do not notice it.
 */
export function forwardedClock(): (ms: number) => void {
  return shiftedClock(performance.now.bind(performance));
}

/** Does the same with a clock that stands still otherwise, at a whole millisecond: sums are exact then. */
export function stoppedClock(): (ms: number) => void {
  const stoppedAt = Math.round(performance.now());
  return shiftedClock(() => stoppedAt);
}

function shiftedClock(now: () => number): (ms: number) => void {
  let forwardMs = 0;
  onTestFinished(replaceClock({ performance: { now: () => now() + forwardMs } }));
  return (ms) => {
    forwardMs += ms;
  };
}
