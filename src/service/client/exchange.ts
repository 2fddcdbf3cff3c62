import { clearTimeout, setTimeout } from '../../receiver/timing/process-clock.ts';
import { isError, messageOf, propertyOf } from '../../receiver/values/foreign-values.ts';
import { AnswerBody } from '../shapes/answer-body.ts';
import { Answer, type AnswerContext, refusal } from './answer.ts';
import { readRetryAfter } from './retry.ts';
import { ServiceError, type ServiceErrorCode } from './service-error.ts';
import { signingKeyIn } from './signing-key-in.ts';

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
  readonly maxAnswerBytes: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Sends one request once and resolves with an answer of 2xx. Rejects with {@link ServiceError}, or with the
 * reason of the signal.
 */
export async function exchange(request: ExchangeRequest): Promise<Answer> {
  const { response, isCut, text } = await fetchText(request);
  const context: AnswerContext = { ...request, status: response.status };
  if (response.ok && isCut) {
    const problem =
      `the answer to ${request.request} is longer than ${request.maxAnswerBytes} bytes, decompressed, and ` +
      'the rest was not read: raise maxAnswerBytes of createClient if the service sends such answers';
    throw failed('answer_too_large', request, problem, text, response.status);
  }
  if (response.ok) return new Answer(context, text);
  // The status of a refusal says enough, even if its text was cut and is not JSON any more.
  throw refusal(context, text, readRetryAfter(response.headers.get('retry-after')));
}

interface Fetched {
  readonly response: Response;
  /** True if the answer was longer than the limit. */
  readonly isCut: boolean;
  readonly text: string;
}

async function fetchText(request: ExchangeRequest): Promise<Fetched> {
  const { method, url, headers, body = null, timeoutMs, signal } = request;
  // Not AbortSignal.any, because with it Node.js 20 keeps memory for as long as the caller's signal lives.
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(LATE), timeoutMs);
  const onAbort = (): void => controller.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  const answer = new AnswerBody(request.maxAnswerBytes);
  try {
    // Redirects are not followed, because fetch would carry x-api-key to another host.
    const init: RequestInit = { method, headers, body, redirect: 'manual', signal: controller.signal };
    const response = await fetch(url, init);
    await answer.read(response);
    return { response, isCut: answer.isCut, text: answer.text() };
  } catch (thrown) {
    const late = `the service has not answered ${request.request} within ${timeoutMs} ms`;
    if (controller.signal.reason === LATE) throw failed('service_timeout', request, late, answer.text());
    controller.signal.throwIfAborted();
    const unreachable = `the service could not be reached by ${request.request}: ${innermostMessage(thrown)}`;
    throw failed('service_unreachable', request, unreachable, answer.text());
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** The reason of the abort if a request took too long. */
const LATE = Symbol('late');

/**
 * Creates the error of a request that got no readable answer. It has no cause: the error of the parser of
 * fetch holds a part of the answer, which may hold a signing key.
 */
function failed(
  code: ServiceErrorCode,
  { request, outcomeUnknown }: ExchangeRequest,
  problem: string,
  text: string,
  status?: number,
): ServiceError {
  const signingKey = signingKeyIn(text);
  return new ServiceError(code, `${problem}${outcomeUnknown}`, { request, status, signingKey });
}

/**
 * The message of fetch is "fetch failed", and its cause says why. An AggregateError has a code and an empty
 * message.
 */
function innermostMessage(thrown: unknown, depth = 0): string {
  if (!isError(thrown)) return 'the connection failed';
  const cause = propertyOf(thrown, 'cause');
  // Causes may form a circle.
  if (isError(cause) && depth < 10) return innermostMessage(cause, depth + 1);
  const code = propertyOf(thrown, 'code');
  return propertyOf(thrown, 'message') === '' && typeof code === 'string' ? code : messageOf(thrown);
}
