import { z } from 'zod';
import { ServiceError, type ServiceErrorCode, type ServiceErrorFacts } from './service-error.ts';

/** An answer with a status of 2xx, still to be read. */
export class Answer {
  readonly #context: AnswerContext;
  readonly #text: string;

  constructor(context: AnswerContext, text: string) {
    this.#context = context;
    this.#text = text;
  }

  /**
   * Parses the body; unknown members are kept. If the schema rejects it, throws a {@link ServiceError} that
   * names members and never values: the answer to a creation holds the signing key, which only
   * `signingKey()` of the error gives.
   */
  read<T>(schema: z.ZodType<T>): T {
    const body = parseJson(this.#text);
    if (body === undefined) {
      throw this.#invalid(this.#text.trim() === '' ? 'it is empty' : 'it is no JSON');
    }
    const { success, data, error } = schema.safeParse(body);
    if (success) return data;
    throw this.#invalid(describeIssues(error.issues));
  }

  /** The answer as it came. */
  raw(): { readonly status: number; readonly text: string; readonly body: unknown } {
    return { status: this.#context.status, text: this.#text, body: parseJson(this.#text) };
  }

  /** An error about what the answer says, with the secrets of the request taken out of the message. */
  error(code: ServiceErrorCode, message: string, facts: ServiceErrorFacts = {}): ServiceError {
    const { request, status, secrets } = this.#context;
    return new ServiceError(code, redact(message, secrets), { request, status, ...facts });
  }

  #invalid(complaint: string): ServiceError {
    const { request, outcomeUnknown } = this.#context;
    return this.error(
      'answer_invalid',
      `the answer to ${request} is not what the interface shows: ${complaint}${outcomeUnknown}`,
      { signingKey: signingKeyIn(this.#text) },
    );
  }
}

/** The request of an answer, and its status. */
export interface AnswerContext {
  readonly request: string;
  readonly status: number;
  readonly secrets: readonly string[];
  /** Added to the message if the caller cannot know what the service has done. */
  readonly outcomeUnknown: string;
}

// More lenient than the shown error body, which is shown for webhooks only.
const refusalBody = z.looseObject({
  message: z.string().min(1),
  details: z.string().optional().catch(undefined),
});

/** The error of an answer without success: the service's own where it sent one, in JSON. */
export function refusal(
  { request, status, secrets }: AnswerContext,
  text: string,
  retryAfterMs: number | undefined,
): ServiceError {
  const facts = { request, status, retryAfterMs };
  const { success, data } = refusalBody.safeParse(parseJson(text));
  if (!success) {
    return new ServiceError('service_refused', `the service answered ${request} with ${status}`, facts);
  }
  const details = data.details === undefined ? undefined : redact(data.details, secrets);
  return new ServiceError('service_refused', redact(data.message, secrets), { ...facts, details });
}

/** Lists what a schema found, by path and without values. */
export function describeIssues(issues: readonly z.core.$ZodIssue[]): string {
  return issues
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ');
}

/**
 * The signing key in a body, also in one that is cut off or wraps the webhook in another object. It is shown
 * only once, so it is found even where nothing else is.
 */
export function signingKeyIn(text: string): string | undefined {
  const [, literal = ''] = /"secret_signing_key"\s*:\s*("(?:[^"\\]|\\.)+")/.exec(text) ?? [];
  const key = parseJson(literal);
  return typeof key === 'string' ? key : undefined;
}

/** Undefined for what is no JSON. The error of JSON.parse is dropped, because it quotes the text. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A shorter secret is hardly one, and would blot out common words. */
const SHORTEST_SECRET = 6;

/** A service may quote what it was sent. */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), text);
}
