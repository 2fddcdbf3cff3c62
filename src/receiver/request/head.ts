import { RequestError } from '../errors.ts';
import { checkBodySize, type SizeLimit } from './body-size.ts';
import { type HeaderFields, type HeaderValues, readHeaders } from './headers.ts';

/** The headers of a request, read once. */
export interface RequestHead {
  readonly headers: HeaderValues;
  /** The length of the body that the sender declared. */
  readonly length: number | undefined;
}

/** Reads the headers. Throws {@link ConfigurationError} for headers in an unknown form. */
export function readHead(fields: HeaderFields): RequestHead {
  const headers = readHeaders(fields);
  const value = headers['content-length']?.[0];
  const length = value !== undefined && /^\d+$/.test(value) ? Number(value) : undefined;
  return { headers, length };
}

/** Refuses methods other than POST: the service does not use them (interface, "Events"). */
export function checkMethod(method: string): void {
  if (method !== 'POST' && method.toUpperCase() !== 'POST') {
    throw new RequestError('method_not_allowed', `the method is ${method}; webhooks come by POST`);
  }
}

/**
 * Refuses compressed bodies: the signature covers the bytes as sent, and nothing may be inflated before the
 * signature is checked. A list may have empty members, which count for nothing (RFC 9110, section 5.6.1.2).
 */
export function checkEncoding({ headers }: RequestHead): void {
  const values = headers['content-encoding'];
  if (values === undefined) return;
  const given = values.flatMap((value) => value.split(','));
  const codings = given.map((coding) => coding.trim()).filter((coding) => coding !== '');
  if (codings.every((coding) => coding.toLowerCase() === 'identity')) return;
  throw new RequestError(
    'encoding_unsupported',
    `the content-encoding is ${codings.join(', ')}; only identity is accepted`,
  );
}

/** Node.js reads at most this many bytes from a socket at once. */
const MAX_BYTES_PER_READ = 65_536;

/**
 * Returns true if the body may arrive later than its headers: by its declared length, or because it is
 * chunked, so that its length is unknown. Its chunks may even be single bytes, each in a Buffer of its own
 * until the body is read.
 */
export function exceedsOneRead({ headers, length }: RequestHead): boolean {
  return length === undefined ? headers['transfer-encoding'] !== undefined : length > MAX_BYTES_PER_READ;
}

/** Refuses a body that is too long by its declared length, before a byte of it is buffered. */
export function checkDeclaredLength({ length }: RequestHead, limit: SizeLimit): void {
  if (length !== undefined) checkBodySize(length, limit);
}

/**
 * Returns true if the connection must be closed after a refusal. A body of known and small length is drained
 * instead, so that the connection can serve the next delivery.
 */
export function mustClose({ headers, length }: RequestHead, maxBodyBytes: number): boolean {
  return length === undefined ? headers['transfer-encoding'] !== undefined : length > maxBodyBytes;
}
