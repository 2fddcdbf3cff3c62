import { ConfigurationError, show } from './errors.ts';

/** Throws {@link ConfigurationError} for anything but an object with the given names. */
export function checkOptions(options: unknown, names: readonly string[], taker: string): void {
  if (typeof options !== 'object' || options === null) {
    throw new ConfigurationError(`${taker} takes an object of options, got ${show(options)}`);
  }
  const unknownName = Object.keys(options).find((name) => !names.includes(name));
  if (unknownName === undefined) return;
  throw new ConfigurationError(
    `"${unknownName}" is no option of ${taker}; its options are ${names.join(', ')}`,
  );
}

/** The longest delay that a timer of Node.js keeps; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A whole number of milliseconds that a timer can keep; throws {@link ConfigurationError} for anything else. */
export function readDuration(name: string, value: unknown, fallback: number, least = 1): number {
  return readInteger(name, value, fallback, MAX_TIMER_MS, least);
}

/** A whole number from `least` to `most`, or the fallback where there is none; throws {@link ConfigurationError}. */
export function readInteger(name: string, value: unknown, fallback: number, most: number, least = 1): number {
  if (value === undefined) return fallback;
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw invalidOption(name, `must be a whole number from ${least} to ${most}, got ${show(value)}`);
}

/** The error for an option with a value that it may not have. */
export function invalidOption(name: string, complaint: string): ConfigurationError {
  return new ConfigurationError(`${name} ${complaint}`);
}
