import { type SignedHeadersOptions, signedHeaders } from './signed-headers.ts';

/** Options of {@link deliver}. */
export interface DeliverOptions extends SignedHeadersOptions {
  /** Sent besides, or instead of what would be sent under the same lower-case name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Gives the request up when it aborts. */
  readonly signal?: AbortSignal;
}

/**
 * Sends an event as the service does, and resolves with the answer. A string or bytes are sent as they are.
 *
 * @example
 * ```ts
 * const response = await deliver('http://127.0.0.1:3000/webhooks', createEvent('dispute.created'), { key });
 * console.log(response.status, await response.json());
 * ```
 */
export function deliver(
  url: string | URL,
  event: object | string | Uint8Array,
  { headers, signal, ...options }: DeliverOptions,
): Promise<Response> {
  const body = typeof event === 'string' || event instanceof Uint8Array ? event : JSON.stringify(event);
  return fetch(url, {
    method: 'POST',
    headers: { ...signedHeaders(body, options), ...headers },
    body,
    ...(signal !== undefined && { signal }),
  });
}
