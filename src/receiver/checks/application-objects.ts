import { propertyOf, show } from '../values/foreign-values.ts';
import { checkFunction } from './called-functions.ts';
import { invalidOption } from './check-options.ts';

/** Throws ConfigurationError for a text, which would be the path of a directory. */
export function checkNotDirectory(deadLetters: unknown): void {
  if (typeof deadLetters !== 'string') return;
  const directory = show(deadLetters);
  throw invalidOption(
    'deadLetters',
    `is the text ${directory}: for a directory of dead letters set createFileDeadLetters(${directory}) of posthorn/file`,
  );
}

/** Throws ConfigurationError for an object of the application that lacks a method. */
export function checkMethods(name: string, value: unknown, methods: readonly string[]): void {
  const isMissing = (method: string) => typeof propertyOf(value, method) !== 'function';
  const missing = methods.find((method) => typeof value !== 'object' || isMissing(method));
  if (missing !== undefined)
    throw invalidOption(name, `must be an object with ${methods.join(', ')}; ${missing} is missing`);
  // `list` may be a generator function, because its result is iterated.
  for (const method of methods.filter((each) => each !== 'list'))
    checkFunction(propertyOf(value, method), `${method} of ${name}`);
}
