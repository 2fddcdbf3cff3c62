import { types } from 'node:util';
import { checkOptions } from '../receiver/checks/check-options.ts';
import { ConfigurationError } from '../receiver/errors.ts';
import { propertyOf, show, typeNameOf } from '../receiver/values/foreign-values.ts';
import type { Receiver } from '../receiver-interface.ts';
import { createdEventOf } from './created-events.ts';
import { type SignedHeadersOptions, signedHeaders } from './signed-headers.ts';

/** Options of {@link deliver}. */
export interface DeliverOptions extends SignedHeadersOptions {
  /** Additional headers. One with the lower-case name of a header that `deliver` sends replaces it. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * The path and the query, for a receiver with the option `account`; `/` by default. An address has its own.
   */
  readonly url?: string | undefined;
  /**
   * Ends the request when it aborts: `deliver` rejects with its reason. The receiver goes on, and its report
   * has `answerSent: false`.
   */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends an event as the service does, or the sender of another provider, to an address by HTTP or to a
 * receiver without a server, and resolves with the answer. A string or bytes are sent as they are.
 *
 * The key is the receiver's `signingKey`. It must be given, because a receiver never reveals its key.
 *
 * @throws ConfigurationError, as a rejection, for a target that is neither an address nor a receiver, for a
 * missing or empty key, and for a wrong option.
 *
 * @example
 * ```ts
 * import { createEvent, deliver } from 'posthorn/testing';
 *
 * const response = await deliver(receiver, createEvent('transfer.succeeded', { amount: 1250 }), { key });
 * console.log(response.status, await response.json()); // 200 { outcome: 'processed', id: 'evt_…' }
 *
 * await deliver('http://127.0.0.1:3000/webhooks', createEvent('dispute.created'), { key });
 * ```
 */
export async function deliver(
  to: string | URL | Pick<Receiver, 'receive'>,
  event: object | string | Uint8Array,
  options: DeliverOptions,
): Promise<Response> {
  const names = ['key', 'provider', 'event', 'authentication', 'signatureHeader', 'headers', 'url', 'signal'];
  checkOptions(options, names, 'deliver');
  const { headers, signal, url = '/', ...given } = options;
  const signing = { ...given, event: given.event ?? createdEventOf(event) };
  const body = typeof event === 'string' || types.isUint8Array(event) ? event : JSON.stringify(event);
  const request: SignedRequest = {
    headers: new Headers({ ...signedHeaders(body, signing), ...headers }),
    body,
    signal,
  };
  if (isReceiver(to)) return handOver(to, url, request);
  if (!URL.canParse(String(to))) throw wrongTarget(to);
  return fetch(to, { method: 'POST', ...request, signal: signal ?? null });
}

interface SignedRequest {
  readonly headers: Headers;
  readonly body: string | Uint8Array;
  readonly signal: AbortSignal | undefined;
}

function isReceiver(to: string | URL | Pick<Receiver, 'receive'>): to is Pick<Receiver, 'receive'> {
  return typeof propertyOf(to, 'receive') === 'function';
}

function wrongTarget(to: unknown): ConfigurationError {
  return new ConfigurationError(
    'deliver takes the address of an endpoint, such as http://127.0.0.1:3000/webhooks, or a receiver, which ' +
      `createReceiver returns; got ${typeof to === 'string' ? show(to) : typeNameOf(to)}`,
  );
}

/** Stands in for the adapter: gives the receiver the delivery of an HTTP request. */
async function handOver(
  receiver: Pick<Receiver, 'receive'>,
  url: string,
  { headers, body, signal }: SignedRequest,
): Promise<Response> {
  signal?.throwIfAborted();
  headers.set('content-length', String(Buffer.byteLength(body)));
  const received = receiver.receive({
    method: 'POST',
    url,
    headers,
    readBody: () => body,
    isConnected: () => signal?.aborted !== true,
  });
  const reply = await (signal === undefined ? received : Promise.race([received, aborted(signal)]));
  return new Response(reply.body, { status: reply.status, headers: reply.headers });
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
