import { types } from 'node:util';
import { ConfigurationError } from '../errors.ts';
import { typeNameOf } from '../values/foreign-values.ts';

/** A signing key: the secret that the sender shows, as text, or bytes. */
export type Key = string | Uint8Array;

/** Reads one key or a list. Throws {@link ConfigurationError} for an empty list, and for a wrong key. */
export function readKeys(keys: Key | readonly Key[], name: string): readonly Key[] {
  // `map` skips the holes of a list, and a copy has none.
  const list: readonly unknown[] = Array.isArray(keys) ? [...keys] : [keys];
  if (list.length === 0) throw new ConfigurationError(`${name} must hold at least one key`);
  return list.map((key) => readKey(key, name));
}

/** Throws {@link ConfigurationError} for an empty key, or a key of another type. */
export function readKey(key: unknown, name: string): Key {
  if (typeof key === 'string' && key !== '') return key;
  if (types.isUint8Array(key) && key.length > 0) return key;
  throw new ConfigurationError(
    `${name} must be a non-empty string or Uint8Array, or a list of these; got ${kindOf(key)}`,
  );
}

function kindOf(key: unknown): string {
  if (key === '' || (types.isUint8Array(key) && key.length === 0)) return 'an empty one';
  return typeNameOf(key);
}
