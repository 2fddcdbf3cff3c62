import { isError, messageOf, propertyOf } from '../errors.ts';
import { Answer, type AnswerContext, refusal, signingKeyIn } from './answer.ts';
import { readRetryAfter } from './retry.ts';
import { ServiceError } from './service-error.ts';

/** One HTTP request, ready to be sent. */
export interface ExchangeRequest {
  /** The method and the path, for messages. */
  readonly request: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly secrets: readonly string[];
  readonly outcomeUnknown: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Sends one request once and resolves with an answer of 2xx. Rejects with
 * {@link ServiceError}, or with the reason of the signal.
 */
export async function exchange(request: ExchangeRequest): Promise<Answer> {
  const { response, text } = await fetchText(request);
  const context: AnswerContext = { ...request, status: response.status };
  if (response.ok) return new Answer(context, text);
  throw refusal(context, text, readRetryAfter(response.headers.get('retry-after')));
}

async function fetchText(request: ExchangeRequest): Promise<{ response: Response; text: string }> {
  const { method, url, headers, body = null, timeoutMs, signal } = request;
  // Not AbortSignal.any: with it, Node.js 20 keeps memory for as long as the caller's signal lives.
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(LATE), timeoutMs);
  const onAbort = (): void => controller.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  const received = { text: '' };
  try {
    // A redirect is not followed: fetch would carry x-api-key to another host.
    const init: RequestInit = { method, headers, body, redirect: 'manual', signal: controller.signal };
    const response = await fetch(url, init);
    await readInto(received, response);
    return { response, text: received.text };
  } catch (thrown) {
    if (controller.signal.reason === LATE) throw timedOut(request, received.text);
    controller.signal.throwIfAborted();
    throw unreachable(request, thrown, received.text);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** The reason of a request that took too long. */
const LATE = Symbol('late');

/** Keeps what comes before a failure, too: it may hold a signing key. */
async function readInto(received: { text: string }, response: Response): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) received.text += decoder.decode(chunk, { stream: true });
  received.text += decoder.decode();
}

function timedOut({ request, timeoutMs, outcomeUnknown }: ExchangeRequest, text: string): ServiceError {
  const message = `the service has not answered ${request} within ${timeoutMs} ms${outcomeUnknown}`;
  return new ServiceError('service_timeout', message, { request, signingKey: signingKeyIn(text) });
}

/**
 * Without the error of fetch as its cause: the parser's holds a part of
 * the answer, which may hold a signing key.
 */
function unreachable(
  { request, outcomeUnknown }: ExchangeRequest,
  thrown: unknown,
  text: string,
): ServiceError {
  const reason = innermostMessage(thrown);
  const message = `the service could not be reached by ${request}: ${reason}${outcomeUnknown}`;
  return new ServiceError('service_unreachable', message, { request, signingKey: signingKeyIn(text) });
}

/** fetch says "fetch failed", and its cause says why; an AggregateError has a code and an empty message. */
function innermostMessage(thrown: unknown, depth = 0): string {
  if (!isError(thrown)) return 'the connection failed';
  const cause = propertyOf(thrown, 'cause');
  // Causes may form a circle.
  if (isError(cause) && depth < 10) return innermostMessage(cause, depth + 1);
  const code = propertyOf(thrown, 'code');
  return propertyOf(thrown, 'message') === '' && typeof code === 'string' ? code : messageOf(thrown);
}
