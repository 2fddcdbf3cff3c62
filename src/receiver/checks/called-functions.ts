import { types } from 'node:util';
import { ConfigurationError } from '../errors.ts';
import { dropPromise, propertyOf } from '../values/foreign-values.ts';

/** Accepts a result, unless it is a generator or a promise of one. */
export type NotAGenerator<Result> = [Awaited<Result>] extends [never]
  ? unknown
  : Awaited<Result> extends AnyGenerator
    ? never
    : unknown;

type AnyGenerator = Generator<unknown, unknown, never> | AsyncGenerator<unknown, unknown, never>;

/**
 * Throws {@link ConfigurationError} for a value that is not a function, and for a generator function: a call
 * runs nothing of it.
 */
export function checkFunction(value: unknown, subject: string): void {
  if (typeof value !== 'function')
    throw new ConfigurationError(`${subject} must be a function, got ${typeof value}`);
  if (types.isGeneratorFunction(value))
    throw new ConfigurationError(
      `${subject} must not be a generator function, of which a call runs nothing: use an async function`,
    );
}

/**
 * Returns the awaited result of a function. Throws {@link ConfigurationError} for a generator or an
 * Observable: nothing of the work has run, and nothing will. If a compiler has rewritten a generator
 * function, only its result shows it.
 */
export function checkBegun<Result>(result: Result, subject = 'it'): Result {
  if (typeof result !== 'object' || result === null) return result;
  if (isObservable(result))
    throw new ConfigurationError(
      `${subject} returned an Observable, which does nothing until somebody subscribes to it: ` +
        'return a promise of its end, for example lastValueFrom(observable, { defaultValue: undefined })',
    );
  if (isGenerator(result))
    throw new ConfigurationError(
      `${subject} returned a generator or an iterator, which does nothing until somebody iterates it: ` +
        'use an async function, and iterate it there',
    );
  return result;
}

function isObservable(value: object): boolean {
  if (typeof propertyOf(value, 'subscribe') !== 'function') return false;
  const symbol: unknown = Reflect.get(Symbol, 'observable');
  const names = typeof symbol === 'symbol' ? [symbol, '@@observable'] : ['@@observable'];
  return names.some((name) => propertyOf(value, name) !== undefined);
}

/** A stream or a list is not one: its iterator is another object. */
function isGenerator(value: object): boolean {
  if (typeof propertyOf(value, 'next') !== 'function') return false;
  return [Symbol.iterator, Symbol.asyncIterator].some((name) => {
    const iterate = propertyOf(value, name);
    try {
      const iterator: unknown = typeof iterate === 'function' ? Reflect.apply(iterate, value, []) : undefined;
      if (iterator !== value) dropPromise(iterator);
      return iterator === value;
    } catch {
      return false;
    }
  });
}
