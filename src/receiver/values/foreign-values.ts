import { inspect, types } from 'node:util';

// A foreign value is one that a handler, an observer, a store or a schema threw or returned. Any inspection
// of it except `typeof` can throw: a getter can, and for a revoked Proxy even `instanceof` and `in` do. None
// of these functions throws.

/** Returns true if a value is an instance of the class, and false if it cannot be inspected. */
export function isInstance<T>(value: unknown, type: abstract new (...parameters: never[]) => T): value is T {
  try {
    return value instanceof type;
  } catch {
    return false;
  }
}

/**
 * Returns true for an error of any realm: Jest runs tests in its own realm, where an error of Node.js is not
 * an instance of `Error`.
 */
export function isError(value: unknown): value is Error {
  // biome-ignore lint/plugin: only this finds a DOMException, and what inherits from Error without a class
  return types.isNativeError(value) || isInstance(value, Error);
}

/** Returns true for an AbortSignal of any realm, and of any library that has its own. */
export function isAbortSignal(value: unknown): value is AbortSignal {
  return (
    typeof propertyOf(value, 'aborted') === 'boolean' &&
    typeof propertyOf(value, 'addEventListener') === 'function'
  );
}

/** Returns a property of a value, or undefined if reading it throws. */
export function propertyOf(value: unknown, name: PropertyKey): unknown {
  try {
    return Reflect.get(Object(value), name);
  } catch {
    return undefined;
  }
}

/** Returns a value that is a well-formed text and not empty; undefined for any other. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.isWellFormed() ? value : undefined;
}

/**
 * Returns true for a promise, and ignores its result. A function of the application that is async by mistake
 * returns one, and nothing awaits it: its rejection would end the process.
 */
export function dropPromise(value: unknown): boolean {
  if (typeof propertyOf(value, 'then') !== 'function') return false;
  const settle = async (): Promise<unknown> => await value;
  settle().catch(() => {});
  return true;
}

/** Returns the message of a thrown value, of bounded length. Never throws. */
export function messageOf(thrown: unknown): string {
  const message = isError(thrown) ? propertyOf(thrown, 'message') : thrown;
  return typeof message === 'string' && message !== '' ? shorten(message) : show(thrown);
}

/** Shows a value in a message: short, on one line, without calling its own methods. Never throws. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(shorten(value, 100));
  const name = isError(value) ? propertyOf(value, 'name') : undefined;
  if (typeof name === 'string' && name !== '') return shorten(name);
  try {
    return shorten(inspect(value, { depth: 0, breakLength: Number.POSITIVE_INFINITY, customInspect: false }));
  } catch {
    return `${typeof value} that cannot be shown`;
  }
}

/**
 * Names the type of a value in a message, for example `undefined`, `string` or `Map`. It is for values that a
 * message must not show: bodies, headers, keys, options. Never throws.
 */
export function typeNameOf(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value !== 'object') return typeof value;
  try {
    return shorten(Object.prototype.toString.call(value).slice('[object '.length, -1), 100);
  } catch {
    return 'object';
  }
}

/**
 * The most characters of a text that leaves the process in a report, a dead letter or a trace: a handler may
 * throw a whole document. Lines of a log and names are shorter.
 */
const MAX_TEXT_LENGTH = 2_000;

/** Cuts a text that is too long. */
export function shorten(text: string, maxLength: number = MAX_TEXT_LENGTH): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`;
}
