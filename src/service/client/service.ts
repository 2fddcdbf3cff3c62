import { checkOptions } from '../../receiver/checks/check-options.ts';
import { ConfigurationError } from '../../receiver/errors.ts';
import { isAbortSignal, show } from '../../receiver/values/foreign-values.ts';
import { type Answer, redact } from './answer.ts';
import type { Authorization } from './credentials.ts';
import { type ExchangeRequest, exchange } from './exchange.ts';
import type { Area, CallOptions, ClientSettings } from './options.ts';
import { pause, pauseAfter } from './retry.ts';

/** A request to the service, as a method of the client makes it. */
export interface ServiceRequest {
  /** The method of the client, for messages, such as `webhooks.list`. */
  readonly name: string;
  readonly area: Area | 'none';
  readonly method: string;
  /** The path below the base address, with the query. */
  readonly path: string;
  /** The body, sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Parts of the request that must not appear in an error. */
  readonly secrets?: readonly string[] | undefined;
  /** False for a creation, because a second try could create a second one. */
  readonly repeatable: boolean;
}

/**
 * Sends a request, repeats it if that is safe and may help, and resolves with an answer of 2xx. Rejects with
 * {@link ServiceError}, {@link ConfigurationError}, or the reason of the signal.
 */
export type Service = (request: ServiceRequest, options?: CallOptions) => Promise<Answer>;

/** Keeps secrets in a closure, because `inspect` does not show it. */
export function createService(settings: ClientSettings): Service {
  return async (request, options = {}) => {
    const signal = readSignal(options, request.name);
    for (let tries = 1; ; tries += 1) {
      try {
        return await sendOnce(settings, request, signal);
      } catch (error) {
        const pauseMs = request.repeatable ? pauseAfter(error, tries) : undefined;
        if (pauseMs === undefined) throw error;
        await pause(pauseMs, signal);
      }
    }
  };
}

function readSignal(options: CallOptions, name: string): AbortSignal | undefined {
  checkOptions(options, ['signal'], `the last argument of ${name}`);
  const { signal } = options;
  if (signal === undefined || isAbortSignal(signal)) return signal;
  throw new ConfigurationError(`signal of ${name} must be an AbortSignal, got ${show(signal)}`);
}

async function sendOnce(
  settings: ClientSettings,
  request: ServiceRequest,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  signal?.throwIfAborted();
  const authorization = await untilAborted(authorize(settings, request), signal);
  return exchange(toExchange(settings, request, authorization, signal));
}

const missing: Readonly<Record<Area, string>> = {
  banking: 'banking: { token, apiKey }',
  profile: 'profile: { accessToken }',
  administrator: 'administrator: { username, password }',
};

async function authorize(
  { areas, timeoutMs }: ClientSettings,
  { name, area }: ServiceRequest,
): Promise<Authorization> {
  if (area === 'none') return { headers: {}, secrets: [] };
  const source = areas[area];
  if (source !== undefined) return source(timeoutMs);
  throw new ConfigurationError(`${name} needs ${missing[area]} among the options of createClient`);
}

function toExchange(
  { baseUrl, timeoutMs, maxAnswerBytes }: ClientSettings,
  { method, path, body, headers, secrets = [], repeatable }: ServiceRequest,
  authorization: Authorization,
  signal: AbortSignal | undefined,
): ExchangeRequest {
  const allSecrets = [...authorization.secrets, ...secrets];
  return {
    request: redact(`${method} ${path}`, allSecrets.flatMap(formsInPath)),
    method,
    url: `${baseUrl}${path}`,
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
      ...authorization.headers,
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    secrets: allSecrets,
    outcomeUnknown: repeatable ? '' : '; it may have been carried out: check before you send it again',
    timeoutMs,
    maxAnswerBytes,
    signal,
  };
}

/** The forms of a text: as it is, in a path, and in a query. */
function formsInPath(text: string): readonly string[] {
  const parameter = new URLSearchParams([['', text]]).toString().slice(1);
  return [text, text.isWellFormed() ? encodeURIComponent(text) : text, parameter];
}

/** Rejects when the signal aborts, because a source of tokens does not know the signal. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
