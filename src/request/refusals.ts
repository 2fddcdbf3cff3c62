import { RequestError } from '../errors.ts';
import type { HeaderValues } from './headers.ts';

/** The service sends nothing but POST (interface, "Events"). */
export function checkMethod(method: string): void {
  if (method !== 'POST' && method.toUpperCase() !== 'POST') {
    throw new RequestError('method_not_allowed', `the method is ${method}; webhooks come by POST`);
  }
}

/** The signature is over the bytes that were sent, and nothing that inflates them may stand before it. */
export function checkEncoding(headers: HeaderValues): void {
  const codings = headers['content-encoding'];
  if (codings === undefined || codings.every((coding) => coding.toLowerCase() === 'identity')) return;
  throw new RequestError(
    'encoding_unsupported',
    `the content-encoding is ${codings.join(', ')}; only identity is accepted`,
  );
}

/** The length that the sender declared, if it did. */
export function declaredLength(headers: HeaderValues): number | undefined {
  const value = headers['content-length']?.[0];
  return value !== undefined && /^\d+$/.test(value) ? Number(value) : undefined;
}

/** The most that Node.js reads from a socket at once. */
const MOST_IN_ONE_READ = 65_536;

/**
 * Whether a body is known to be so long that it is usually still on its way when its head has come. A chunked one may be; its chunks may
 * also be of one byte, each a Buffer of its own until the body is read.
 */
export function exceedsOneRead(headers: HeaderValues, length: number | undefined): boolean {
  return length === undefined ? headers['transfer-encoding'] !== undefined : length > MOST_IN_ONE_READ;
}

/** Refuses a body by its declared length, before a byte of it is buffered. */
export function checkDeclaredLength(length: number | undefined, maxBodyBytes: number): void {
  if (length === undefined || length <= maxBodyBytes) return;
  throw new RequestError('body_too_large', `the body has ${length} bytes; maxBodyBytes is ${maxBodyBytes}`);
}

/**
 * Whether the connection has to be closed after a refusal. A rest of known and small length is drained instead, so
 * that the connection can serve the next delivery.
 */
export function mustClose(headers: HeaderValues, length: number | undefined, maxBodyBytes: number): boolean {
  return length === undefined ? headers['transfer-encoding'] !== undefined : length > maxBodyBytes;
}
