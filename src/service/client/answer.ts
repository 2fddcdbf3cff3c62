import * as z from 'zod';
import { shorten } from '../../receiver/values/foreign-values.ts';
import { isTooDeep, MAX_DEPTH, parseJson } from '../shapes/parse-json.ts';
import { ServiceError, type ServiceErrorCode, type ServiceErrorFacts } from './service-error.ts';
import { signingKeyIn } from './signing-key-in.ts';

/** An unread answer with a status of 2xx. */
export class Answer {
  readonly #context: AnswerContext;
  readonly #text: string;

  constructor(context: AnswerContext, text: string) {
    this.#context = context;
    this.#text = text;
  }

  /**
   * Parses the body; unknown members are kept. If the schema rejects it, throws a {@link ServiceError} that
   * names members but never values: the answer to a creation holds the signing key, which only `signingKey()`
   * of the error reveals.
   */
  read<T>(schema: z.ZodType<T>): T {
    const body = parseJson(this.#text);
    if (body === undefined) throw this.#invalid(describeUnparsable(this.#text));
    const { success, data, error } = schema.safeParse(body);
    if (success) return data;
    throw this.#invalid(describeIssues(error.issues));
  }

  /** The answer as it came. */
  raw(): { readonly status: number; readonly text: string; readonly body: unknown } {
    return { status: this.#context.status, text: this.#text, body: parseJson(this.#text) };
  }

  /** Creates an error about the answer, and removes the secrets of the request from the message. */
  error(code: ServiceErrorCode, message: string, facts: ServiceErrorFacts = {}): ServiceError {
    const { request, status, secrets } = this.#context;
    const allSecrets = [...secrets, ...formsOf(facts.signingKey)];
    return new ServiceError(code, quote(message, allSecrets), { request, status, ...facts });
  }

  #invalid(complaint: string): ServiceError {
    const { request, outcomeUnknown } = this.#context;
    return this.error(
      'answer_invalid',
      `the answer to ${request} is not what the interface shows: ${shorten(complaint, 1_000)}${outcomeUnknown}`,
      { signingKey: signingKeyIn(this.#text) },
    );
  }
}

/** The request of an answer, and its status. */
export interface AnswerContext {
  readonly request: string;
  readonly status: number;
  readonly secrets: readonly string[];
  /** An addition to the message if the caller cannot know what the service has done. */
  readonly outcomeUnknown: string;
}

// More lenient than the error body of the interface, which is shown for webhooks only.
const refusalBody = z.looseObject({
  message: z.string().min(1),
  details: z.string().optional().catch(undefined),
});

/** The error of an answer that is not 2xx: the service's own if it sent one in JSON. */
export function refusal(
  { request, status, secrets }: AnswerContext,
  text: string,
  retryAfterMs: number | undefined,
): ServiceError {
  const { success, data } = refusalBody.safeParse(parseJson(text));
  // A service may quote the webhook that it has created, as JSON within the text of its message.
  const signingKey =
    signingKeyIn(text) ?? signingKeyIn(data?.message ?? '') ?? signingKeyIn(data?.details ?? '');
  const facts = { request, status, retryAfterMs, signingKey };
  if (!success) {
    return new ServiceError('service_refused', `the service answered ${request} with ${status}`, facts);
  }
  const allSecrets = [...secrets, ...formsOf(signingKey)];
  const details = data.details === undefined ? undefined : quote(data.details, allSecrets);
  return new ServiceError('service_refused', quote(data.message, allSecrets), { ...facts, details });
}

/** A signing key as it is, and as it stands in a text of JSON. */
function formsOf(signingKey: string | undefined): readonly string[] {
  return signingKey === undefined ? [] : [signingKey, JSON.stringify(signingKey).slice(1, -1)];
}

/** Lists the issues of a schema by path, without values. */
export function describeIssues(issues: readonly z.core.$ZodIssue[]): string {
  return issues
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ');
}

function describeUnparsable(text: string): string {
  if (text.trim() === '') return 'it is empty';
  return isTooDeep(text) ? `it is nested more than ${MAX_DEPTH} deep` : 'it is not JSON';
}

/** A shorter text is hardly a secret, and its removal would hide common words. */
const SHORTEST_SECRET = 6;

/** Removes secrets from a text: a service may quote the request. */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), text);
}

/**
 * Makes a text of the service fit for an error. It is cut last, because a secret that is cut would not be
 * removed.
 */
function quote(text: string, secrets: readonly string[]): string {
  return shorten(redact(text, secrets));
}
