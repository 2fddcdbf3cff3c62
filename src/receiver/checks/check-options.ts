import { ConfigurationError } from '../errors.ts';
import { propertyOf, show, typeNameOf } from '../values/foreign-values.ts';

/** Throws {@link ConfigurationError} unless `options` is an object with only the given names. */
export function checkOptions(options: unknown, names: readonly string[], functionName: string): void {
  if (typeof options !== 'object' || options === null) {
    throw new ConfigurationError(`${functionName} takes an object of options, got ${show(options)}`);
  }
  const unknownName = Object.keys(options).find((name) => !names.includes(name));
  if (unknownName === undefined) return;
  throw new ConfigurationError(
    `"${unknownName}" is not an option of ${functionName}; its options are ${names.join(', ')}`,
  );
}

/** Throws {@link ConfigurationError} unless `receiver` has the given methods, which `functionName` calls. */
export function checkReceiver(receiver: unknown, functionName: string, methods: readonly string[]): void {
  if (methods.every((method) => typeof propertyOf(receiver, method) === 'function')) return;
  throw new ConfigurationError(
    `${functionName} takes a receiver, which createReceiver returns; got ${typeNameOf(receiver)}`,
  );
}

/** The longest delay of a timer in Node.js; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Checks that a value is a whole number of milliseconds that a timer can wait, and returns it. Throws
 * {@link ConfigurationError} for any other value.
 */
export function readDuration(name: string, value: unknown, { least = 1 }: { least?: number } = {}): number {
  return readInteger(name, value, { least, most: MAX_TIMER_MS });
}

/**
 * Checks that a value is a whole number from `least` to `most`, and returns it. Throws
 * {@link ConfigurationError} for any other value. Callers destructure their defaults: `??` would let null
 * pass.
 */
export function readInteger(
  name: string,
  value: unknown,
  { least = 1, most = Number.MAX_SAFE_INTEGER }: { least?: number; most?: number } = {},
): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw invalidOption(name, `must be a whole number from ${least} to ${most}, got ${show(value)}`);
}

/**
 * Reads the scope, which names an application and its environment. It may not contain the characters
 * that follow it in a key, so that the keys of two scopes never collide. Throws {@link ConfigurationError}.
 */
export function readScope(functionName: string, scope: unknown): string {
  if (typeof scope === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(scope)) return scope;
  throw new ConfigurationError(
    `scope of ${functionName} is required: 1 to 64 letters, digits, ".", "_" or "-" ` +
      'that name the application and its environment, ' +
      `for example "billing-production"; got ${show(scope)}`,
  );
}

/** Creates the error for an option with a wrong value. */
export function invalidOption(name: string, problem: string): ConfigurationError {
  return new ConfigurationError(`${name} ${problem}`);
}
