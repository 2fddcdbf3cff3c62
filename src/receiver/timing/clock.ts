import { ConfigurationError } from '../errors.ts';
import { dropPromise, messageOf, typeNameOf } from '../values/foreign-values.ts';

/** The latest time that a Date can hold (ECMAScript, "Time Values and Time Range"). */
const MAX_TIME_MS = 8.64e15;

/**
 * Reads a clock of the application. Throws a {@link ConfigurationError} that names the clock if it throws, or
 * if its result is not a time. If the time were NaN, a replayed event of any age would pass as new.
 */
export function readClock(now: () => unknown, name: string): number {
  const time = callClock(now, name);
  if (typeof time === 'number' && Math.abs(time) <= MAX_TIME_MS) return time;
  dropPromise(time);
  const got = typeof time === 'number' ? String(time) : typeNameOf(time);
  throw new ConfigurationError(`${name} must return a number of milliseconds, got ${got}`);
}

function callClock(now: () => unknown, name: string): unknown {
  try {
    return now();
  } catch (cause) {
    const message = `${name} must return a number of milliseconds, but threw: ${messageOf(cause)}`;
    throw new ConfigurationError(message, { cause });
  }
}

/**
 * Creates a clock that always tells a time. If the application's clock fails, it tells the time of the
 * system: a receiver that refused all events instead would be cut off by the service.
 */
export function createClock(now: () => unknown, onFailure: (problem: string) => void): () => number {
  return () => {
    try {
      return readClock(now, 'now');
    } catch (error) {
      onFailure(`${messageOf(error)}; Date.now() is used instead`);
      return Date.now();
    }
  };
}
