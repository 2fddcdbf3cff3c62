import { ConfigurationError } from '../errors.ts';
import { show, typeNameOf } from '../values/foreign-values.ts';

/**
 * Header fields in any of the forms that HTTP libraries give them: an object by name (`headers` and
 * `headersDistinct` of Node.js), pairs (as `Headers` and `Map` have them), or a list in which names and
 * values alternate (`rawHeaders` of Node.js). A value may be a list of values. Names match in any case. A
 * number, which a shim or a middleware may put there, stands for its digits; null and undefined for no value.
 */
export type HeaderFields =
  | { readonly [name: string]: FieldValue }
  | Iterable<readonly [name: string, value: FieldValue]>
  | readonly string[]
  | WebHeaders;

/** `Headers`, whose pairs TypeScript 5 knows only with the library `dom.iterable` beside `dom`. */
interface WebHeaders {
  get(name: string): string | null;
  forEach(callback: (value: string, name: string) => void): void;
}

/** All values of each field, by lower-case name. */
export interface HeaderValues {
  readonly [name: string]: readonly string[];
}

const CREDENTIAL_HEADERS: readonly string[] = ['authorization', 'proxy-authorization', 'cookie'];

/** Returns true for the lower-case name of a header that holds credentials. */
export function isCredentialHeader(name: string): boolean {
  return CREDENTIAL_HEADERS.includes(name);
}

/** The headers that may be stored: all but those that hold credentials. */
export function withoutCredentials(headers: HeaderValues): HeaderValues {
  // Most requests have none, and a copy for each delivery takes time.
  if (!CREDENTIAL_HEADERS.some((name) => Object.hasOwn(headers, name))) return headers;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isCredentialHeader(name)));
}

type FieldValue = string | number | readonly (string | number)[] | null | undefined;

/**
 * Collects all values of each name, so that a field that was sent twice shows twice. Throws
 * {@link ConfigurationError} for headers in an unknown form. A value in an unknown form throws only when the
 * receiver reads it by its name: most headers are read by nobody.
 */
export function readHeaders(fields: HeaderFields): HeaderValues {
  if (typeof fields !== 'object' || fields === null) throw invalidHeaders(fields);
  const values = new FieldCollection();
  if (isAlternating(fields)) {
    for (let index = 0; index + 1 < fields.length; index += 2) values.add(fields[index], fields[index + 1]);
  } else {
    for (const pair of pairsOf(fields)) {
      if (!isList(pair)) throw invalidHeaders(fields);
      values.add(...pair);
    }
  }
  return values.take();
}

class FieldCollection {
  readonly #values: Record<string, string[]> = Object.create(null);
  readonly #unreadable: [name: string, value: unknown][] = [];

  add(name: unknown, value: unknown): void {
    if (typeof name !== 'string') throw invalidHeaders(name);
    const key = name.toLowerCase();
    if (!Array.isArray(value)) this.#addValue(key, value);
    else for (const item of value) this.#addValue(key, item);
  }

  #addValue(key: string, value: unknown): void {
    if (value === undefined || value === null) return;
    if (typeof value !== 'string' && typeof value !== 'number') this.#unreadable.push([key, value]);
    else {
      const known = this.#values[key];
      if (known === undefined) this.#values[key] = [String(value)];
      else known.push(String(value));
    }
  }

  /** A field with an unreadable value is not among the entries, and throws when it is read by its name. */
  take(): HeaderValues {
    for (const [name, value] of this.#unreadable) {
      const get = (): never => {
        throw invalidFieldValue(name, value);
      };
      Object.defineProperty(this.#values, name, { get, enumerable: false, configurable: true });
    }
    return this.#values;
  }
}

function isAlternating(fields: HeaderFields): fields is readonly string[] {
  return Array.isArray(fields) && typeof fields[0] === 'string';
}

function pairsOf(fields: Exclude<HeaderFields, readonly string[]>): Iterable<readonly [string, FieldValue]> {
  if (isIterable(fields)) return fields;
  if (!isWebHeaders(fields)) return Object.entries(fields);
  const pairs: (readonly [string, FieldValue])[] = [];
  fields.forEach((value, name) => void pairs.push([name, value]));
  return pairs;
}

function isIterable(fields: object): fields is Iterable<readonly [string, FieldValue]> {
  return Symbol.iterator in fields;
}

function isWebHeaders(fields: HeaderFields): fields is WebHeaders {
  return 'forEach' in fields && typeof fields.forEach === 'function';
}

/** The same as `Array.isArray`, but the compiler does not treat the items as `any`. */
function isList(value: unknown): boolean {
  return Array.isArray(value);
}

// A header may hold credentials: the messages show no value.

function invalidHeaders(value: unknown): ConfigurationError {
  return new ConfigurationError(
    'headers must be an object with a value or a list of values by name, a Headers, a Map, a list of pairs, or ' +
      `a list in which names and values alternate; got ${typeNameOf(value)}`,
  );
}

function invalidFieldValue(name: string, value: unknown): ConfigurationError {
  return new ConfigurationError(
    `the header ${show(name)} must be a string, a number, or a list of these; got ${typeNameOf(value)}`,
  );
}
