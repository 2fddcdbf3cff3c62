import type { Delivery } from 'posthorn';
import { signedHeaders } from 'posthorn/testing';
import { KEY } from './served.ts';

/**
 * A signed delivery as an adapter would hand it over, for what needs many of them or no sockets in between.
 */
export function deliveryOf(
  event: object | string | Uint8Array,
  headers: Readonly<Record<string, readonly string[]>> = {},
): Delivery {
  const body = Buffer.from(
    typeof event === 'string' || event instanceof Uint8Array ? event : JSON.stringify(event),
  );
  const signed = Object.entries(signedHeaders(body, { key: KEY })).map(([name, value]) => [name, [value]]);
  return {
    method: 'POST',
    headers: { ...Object.fromEntries(signed), ...headers },
    readBody: async () => body,
  };
}
