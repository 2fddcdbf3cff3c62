import { InternalError, isPosthornError, type PosthornError } from '../errors.ts';
import type { HandshakeReply } from '../provider/handshake-reply.ts';
import { isReportCode, type RefusedOutcome, type ReportCode, refusals } from '../refusals.ts';
import type { Reply } from '../request/delivery.ts';
import { messageOf } from '../values/foreign-values.ts';

/** The end of a delivery. Each delivery has exactly one outcome. */
export type Outcome =
  | 'processed'
  | 'duplicate'
  | 'ignored'
  | 'queued'
  | 'parked'
  | 'handshake'
  | 'rejected'
  | 'failed'
  | 'busy';

/** An outcome whose answer is a 2xx. */
export type AcceptedOutcome = Exclude<Outcome, RefusedOutcome>;

const ACCEPTED_STATUS: Readonly<Record<AcceptedOutcome, number>> = {
  processed: 200,
  duplicate: 200,
  ignored: 200,
  queued: 202,
  parked: 200,
  handshake: 200,
};

/** The result of a delivery, before it becomes an HTTP reply. */
export type Answer = Accepted | Handshake | Refused;

/** A result that becomes a 2xx. `error` says why the event was parked. */
interface Accepted {
  readonly outcome: Exclude<AcceptedOutcome, 'handshake'>;
  readonly id: string;
  readonly error: ReportedError | undefined;
}

/** The answer to a request that is not an event. */
interface Handshake extends HandshakeReply {
  readonly outcome: 'handshake';
  readonly id: undefined;
  readonly error: undefined;
}

/** A result that becomes a 4xx or 5xx. */
export interface Refused {
  readonly outcome: RefusedOutcome;
  readonly id: undefined;
  readonly error: ReportedError;
}

/** Returns a result that becomes a 2xx. */
export function accept(outcome: Accepted['outcome'], id: string, error?: ReportedError): Accepted {
  return { outcome, id, error };
}

/** Returns the answer to a request that is not an event. */
export function answerHandshake({ body, contentType }: HandshakeReply): Handshake {
  return { outcome: 'handshake', id: undefined, error: undefined, body, contentType };
}

/** An error that a report can have. */
export type ReportedError = PosthornError & { readonly code: ReportCode };

/** The result of a delivery that failed with `error`. */
export function refuse(error: unknown): Refused {
  const reported = toReportedError(error);
  const [outcome] = refusals[reported.code];
  return { outcome, id: undefined, error: reported };
}

/** Returns an error that a report can have: the value itself, or an {@link InternalError} that it caused. */
export function toReportedError(error: unknown): ReportedError {
  if (isReportedError(error)) return error;
  return new InternalError('internal_error', `the receiver failed: ${messageOf(error)}`, { cause: error });
}

function isReportedError(error: unknown): error is ReportedError {
  return isPosthornError(error) && isReportCode(error.code);
}

/** Returns true for a result that becomes a 2xx. */
export function isSuccess(answer: Answer): answer is Accepted | Handshake {
  return answer.outcome === 'handshake' || answer.id !== undefined;
}

/** The HTTP status of a result. */
export function statusOf(answer: Answer): number {
  if (isSuccess(answer)) return ACCEPTED_STATUS[answer.outcome];
  const [, status] = refusals[answer.error.code];
  return status;
}

/** The settings of replies. */
export interface ReplySettings {
  /** The value of `WWW-Authenticate`. */
  readonly challenge: string;
  /** The value of `Retry-After`, in whole seconds. */
  readonly retryAfterSeconds: number;
  /** See {@link Reply}. */
  readonly drainMs: number;
}

const SUCCESS_HEADERS: Reply['headers'] = { 'content-type': 'application/json' };

/**
 * Turns a result into an HTTP reply. A refusal becomes a problem of RFC 9457 with its code only: the sender
 * must not see a handler's message, a key or a credential.
 */
export function toReply(answer: Answer, close: boolean, settings: ReplySettings): Reply {
  const status = statusOf(answer);
  const { drainMs } = settings;
  if (answer.outcome === 'handshake') {
    const { body, contentType } = answer;
    return { status, headers: { 'content-type': contentType }, body, close, drainMs };
  }
  if (isSuccess(answer)) {
    const body = `{"outcome":"${answer.outcome}","id":${JSON.stringify(answer.id)}}`;
    return { status, headers: SUCCESS_HEADERS, body, close, drainMs };
  }
  const { code } = answer.error;
  const [, , title] = refusals[code];
  const body = JSON.stringify({ title, status, code });
  const headers = { 'content-type': 'application/problem+json', ...headersOf(status, settings) };
  return { status, headers, body, close, drainMs };
}

function headersOf(status: number, settings: ReplySettings): Record<string, string> {
  switch (status) {
    case 401:
      return { 'www-authenticate': settings.challenge };
    case 405:
      return { allow: 'POST' };
    case 415:
      return { 'accept-encoding': 'identity' };
    case 503:
      return { 'retry-after': String(settings.retryAfterSeconds) };
    default:
      return {};
  }
}
