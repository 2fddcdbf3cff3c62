import http from 'node:http';
import https from 'node:https';
import { messageOf } from '../errors.ts';

/** One HTTP request that carried an event, and what came of it. */
export interface DeliveryAttempt {
  /** The event's id. */
  readonly event: string;
  /** The webhook's id. */
  readonly webhook: string;
  /** 1 for the first delivery, 2 to 4 for its retries. */
  readonly number: number;
  /** Whether this was a copy that was asked for, which is never retried. */
  readonly duplicate: boolean;
  /** When it was sent, by the sandbox's clock: ISO 8601, UTC. */
  readonly at: string;
  readonly request: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    /** The exact text whose UTF-8 bytes were signed and sent. */
    readonly body: string;
  };
  /** The status of the answer; from 200 to 299 the delivery has succeeded. */
  readonly status?: number | undefined;
  /** Why there was no answer. */
  readonly error?: string | undefined;
  /** The answer, its body cut after 16 KiB. */
  readonly response?:
    | { readonly headers: Readonly<Record<string, string>>; readonly body: string }
    | undefined;
  /** From the start to the end of the answer, in real time. */
  readonly durationMs: number;
}

/** What an endpoint made of a request. */
export type Answer = Pick<DeliveryAttempt, 'status' | 'error' | 'response' | 'durationMs'>;

export interface PostOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** How long the endpoint has for its answer, in real time. */
  readonly answerTimeoutMs: number;
  /** Ends the request at once, for a sandbox that closes. */
  readonly signal: AbortSignal;
}

const KEPT_BODY_BYTES = 16_384;

/**
 * Posts once and follows no redirect. Resolves whatever happens. The status decides: an answer whose body breaks off or
 * is still under way at the time limit counts by its status.
 */
export function post({ url, headers, body, answerTimeoutMs, signal }: PostOptions): Promise<Answer> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const { request: open } = url.startsWith('https:') ? https : http;
    // A connection of its own: one that is kept could be closed by the endpoint just when it is used again.
    const request = open(url, { method: 'POST', headers, agent: false, signal });
    const chunks: Buffer[] = [];
    let keptBytes = 0;
    let response: http.IncomingMessage | undefined;

    const finish = (error: string): void => {
      clearTimeout(timer);
      const durationMs = Math.round(performance.now() - startedAt);
      resolve(response === undefined ? { error, durationMs } : { ...answered(response, chunks), durationMs });
      request.destroy();
    };
    const timer = setTimeout(() => finish(`no answer within ${answerTimeoutMs} ms`), answerTimeoutMs);

    // Stays for good: an error after the end would be thrown otherwise.
    request.on('error', (error) => finish(messageOf(error)));
    request.on('response', (incoming) => {
      response = incoming;
      incoming.on('data', (chunk: Buffer) => {
        if (keptBytes < KEPT_BODY_BYTES) chunks.push(chunk);
        keptBytes += chunk.length;
      });
      incoming.on('error', () => {});
      incoming.on('close', () => finish('the answer broke off'));
    });
    request.end(body);
  });
}

function answered(response: http.IncomingMessage, chunks: readonly Buffer[]): Omit<Answer, 'durationMs'> {
  const headers = Object.entries(response.headersDistinct).map(([name, values = []]) => [
    name,
    values.join(', '),
  ]);
  const body = Buffer.concat(chunks).subarray(0, KEPT_BODY_BYTES).toString('utf8');
  return { status: response.statusCode, response: { headers: Object.fromEntries(headers), body } };
}

/** Whether the service takes an answer for a success (interface, "Limits"). */
export function isSuccess({ status }: Answer): boolean {
  return status !== undefined && status >= 200 && status <= 299;
}
