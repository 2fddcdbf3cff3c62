import { types } from 'node:util';
import { ConfigurationError } from '../errors.ts';
import { typeNameOf } from '../values/foreign-values.ts';

/** A body as it was sent: its bytes, or its text, which stands for the bytes of that text in UTF-8. */
export type RawBody = string | Uint8Array | ArrayBuffer;

/** Returns true if a value is a raw body, of any realm. */
export function isRawBody(value: unknown): value is RawBody {
  return typeof value === 'string' || types.isUint8Array(value) || types.isArrayBuffer(value);
}

/** Returns the bytes of a body. Throws {@link ConfigurationError} that names `source` for any other value. */
export function toBytes(body: RawBody, source: string): Uint8Array {
  if (typeof body === 'string') return Buffer.from(body);
  if (types.isUint8Array(body)) return body;
  if (types.isArrayBuffer(body)) return new Uint8Array(body);
  throw new ConfigurationError(
    `${source} must be the body as it was sent, a string, Uint8Array or ArrayBuffer; got ${typeNameOf(body)}. ` +
      'A parsed body cannot be verified: keep the bytes',
  );
}
