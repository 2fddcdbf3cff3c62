import { lookup } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { clearTimeout, performance, setTimeout } from '../../receiver/timing/process-clock.ts';
import { messageOf, propertyOf } from '../../receiver/values/foreign-values.ts';
import { isLoopback } from './host.ts';

/** One HTTP request that carried an event, and its result. */
export interface DeliveryAttempt {
  /** The event's id. */
  readonly event: string;
  /** The webhook's id. */
  readonly webhook: string;
  /** 1 for the first delivery, 2 to 4 for its retries. */
  readonly number: number;
  /** True for a copy that was requested by `duplicates` or by a resend, which is never retried. */
  readonly duplicate: boolean;
  /** True if the body was changed after it was signed, as `changed` asks for; never retried. */
  readonly changed?: boolean | undefined;
  /**
   * The time that the event has aged beyond the time since it happened, because pauses between its attempts
   * were stepped over: `created_at` is that much earlier. `posthorn dev` ages events; other sandboxes never
   * do.
   */
  readonly agedMs?: number | undefined;
  /**
   * The id of another event of the same resource, which happened before this one and has ended. By its age
   * this one is now the older of the two, so that `latest` of an inbox would skip it. Only in the first
   * attempt of which this is true.
   */
  readonly olderThan?: string | undefined;
  /** The time of sending, by the sandbox's clock: ISO 8601, UTC. In `posthorn dev` this is the real time. */
  readonly at: string;
  /** The request as it was sent. */
  readonly request: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    /** The exact text whose UTF-8 bytes were signed and sent. */
    readonly body: string;
  };
  /** The status of the answer; from 200 to 299 the delivery has succeeded. */
  readonly status?: number | undefined;
  /** The reason if there was no answer. */
  readonly error?: string | undefined;
  /** The answer, with its body cut after 16 KiB. */
  readonly response?:
    | { readonly headers: Readonly<Record<string, string>>; readonly body: string }
    | undefined;
  /** From the start to the end of the answer, in real time. */
  readonly durationMs: number;
}

/** The answer of an endpoint to a request. */
export type Answer = Pick<DeliveryAttempt, 'status' | 'error' | 'response' | 'durationMs'>;

type Answered = Omit<Answer, 'durationMs'>;

interface PostOptions {
  /** The time that the endpoint has for its answer, in real time. */
  readonly answerTimeoutMs: number;
  /** Ends the request at once, for a sandbox that closes. */
  readonly signal: AbortSignal;
}

const KEPT_BODY_BYTES = 16_384;

/**
 * Posts once, without following redirects. Never rejects. The status decides, even if the body of the answer
 * breaks off or has not ended at the time limit.
 */
export async function post(request: DeliveryAttempt['request'], options: PostOptions): Promise<Answer> {
  const startedAt = performance.now();
  const durationMs = (): number => Math.round(performance.now() - startedAt);
  try {
    const answer = await exchange(request, options);
    return { ...answer, durationMs: durationMs() };
  } catch (error) {
    return { error: reasonOf(error), durationMs: durationMs() };
  }
}

function exchange(
  { url, headers, body }: DeliveryAttempt['request'],
  { answerTimeoutMs, signal }: PostOptions,
): Promise<Answered> {
  const { request: open } = url.startsWith('https:') ? https : http;
  return new Promise((resolve, reject) => {
    // Each attempt opens a new connection, because the endpoint could close a kept one just when it is
    // reused.
    const request = open(url, { method: 'POST', headers, agent: false, signal, lookup: lookUp });
    const timeout = new Error(`no answer within ${answerTimeoutMs} ms`);
    const timer = setTimeout(() => request.destroy(timeout), answerTimeoutMs);
    request.on('close', () => clearTimeout(timer));
    request.on('error', reject);
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      let keptBytes = 0;
      response.on('data', (chunk: Buffer) => {
        if (keptBytes < KEPT_BODY_BYTES) chunks.push(chunk);
        keptBytes += chunk.length;
      });
      // The body may break off, but the status has arrived already.
      request.off('error', reject).on('error', () => {});
      response.on('error', () => {});
      response.on('close', () => resolve(answered(response, chunks)));
    });
    request.end(body);
  });
}

/** Few resolvers know `api.localhost`, and none may resolve it to another machine (RFC 6761, section 6.3). */
const lookUp: LookupFunction = (hostname, options, callback) =>
  lookup(isLoopback(hostname) ? 'localhost' : hostname, options, callback);

function answered(response: http.IncomingMessage, chunks: readonly Buffer[]): Answered {
  const headers = Object.entries(response.headersDistinct).map(([name, values = []]) => [
    name,
    values.join(', '),
  ]);
  const body = Buffer.concat(chunks).subarray(0, KEPT_BODY_BYTES).toString('utf8');
  return { status: response.statusCode, response: { headers: Object.fromEntries(headers), body } };
}

/** The error for a host with several addresses, as `localhost` has, has a code but an empty message. */
function reasonOf(error: unknown): string {
  const errors = propertyOf(error, 'errors');
  return Array.isArray(errors) && errors.length > 0 ? errors.map(messageOf).join('; ') : messageOf(error);
}
