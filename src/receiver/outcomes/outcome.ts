import type { CodeOf, ErrorCode } from '../error-codes.ts';
import { InternalError, isPosthornError, type PosthornError } from '../errors.ts';
import type { Reply } from '../request/delivery.ts';

/** How a delivery ended. Each delivery has exactly one outcome. */
export type Outcome =
  | 'processed'
  | 'duplicate'
  | 'ignored'
  | 'queued'
  | 'parked'
  | 'rejected'
  | 'failed'
  | 'busy';

/** The result of a delivery, before it becomes an HTTP reply. */
export type Answer = Accepted | Refused;

/** A result that becomes a 2xx. `error` says why the event was parked. */
export interface Accepted {
  readonly outcome: 'processed' | 'duplicate' | 'ignored' | 'queued' | 'parked';
  readonly id: string;
  readonly error: ReportedError | undefined;
}

/** A result that becomes a 4xx or 5xx. */
export interface Refused {
  readonly outcome: 'rejected' | 'failed' | 'busy';
  readonly id: undefined;
  readonly error: ReportedError;
}

/** Creates the result of a delivery that earns a 2xx. */
export function accept(outcome: Accepted['outcome'], id: string, error?: ReportedError): Accepted {
  return { outcome, id, error };
}

interface Refusal {
  readonly outcome: 'rejected' | 'failed' | 'busy';
  readonly status: number;
  readonly title: string;
}

/**
 * The codes that a report can have. Errors that are only thrown, or only given as a reason, have other codes.
 */
export type ReportCode = Exclude<
  ErrorCode,
  | ('permanent' | 'lease_lost' | 'completed_elsewhere')
  | CodeOf<'DeadLetterError' | 'InboxError' | 'ServiceError' | 'RefusedError'>
>;

/** An error that a report can have. */
export type ReportedError = PosthornError & { readonly code: ReportCode };

/** The refusal of a delivery, by the code of its error. */
const refusals: Readonly<Record<ReportCode, Refusal>> = {
  not_found: { outcome: 'rejected', status: 404, title: 'Nothing is served under this path' },
  method_not_allowed: { outcome: 'rejected', status: 405, title: 'Only POST is accepted here' },
  credentials_invalid: { outcome: 'rejected', status: 401, title: 'The credentials are missing or wrong' },
  signature_missing: { outcome: 'rejected', status: 403, title: 'The signature is missing' },
  signature_repeated: { outcome: 'rejected', status: 403, title: 'The signature was sent more than once' },
  signature_malformed: { outcome: 'rejected', status: 403, title: 'The signature is malformed' },
  signature_mismatch: { outcome: 'rejected', status: 403, title: 'The signature does not match the body' },
  encoding_unsupported: {
    outcome: 'rejected',
    status: 415,
    title: 'Only identity is accepted as content encoding',
  },
  body_too_large: { outcome: 'rejected', status: 413, title: 'The body is too large' },
  body_timeout: { outcome: 'rejected', status: 408, title: 'The body took too long to arrive' },
  body_incomplete: { outcome: 'rejected', status: 400, title: 'The body was cut short' },
  body_not_json: { outcome: 'rejected', status: 400, title: 'The body is not JSON in strict UTF-8' },
  envelope_invalid: { outcome: 'rejected', status: 400, title: 'The body is not an event' },
  event_too_old: { outcome: 'rejected', status: 400, title: 'The event is too old' },
  event_in_future: { outcome: 'rejected', status: 400, title: 'The event lies in the future' },
  handler_failed: { outcome: 'failed', status: 500, title: 'A handler failed' },
  handler_failed_permanently: {
    outcome: 'failed',
    status: 500,
    title: 'A handler failed, and no retry can help',
  },
  data_invalid: { outcome: 'failed', status: 500, title: 'The data of the event is not what was expected' },
  body_already_parsed: {
    outcome: 'failed',
    status: 500,
    title: 'The body was parsed before it could be verified',
  },
  configuration_invalid: { outcome: 'failed', status: 500, title: 'The receiver is not set up correctly' },
  internal_error: { outcome: 'failed', status: 500, title: 'The receiver failed' },
  deadline_reached: { outcome: 'failed', status: 503, title: 'The handlers are still running' },
  run_timeout: { outcome: 'failed', status: 503, title: 'The handlers ran for too long' },
  run_closed: { outcome: 'failed', status: 503, title: 'The receiver is closing' },
  // An event is always parked with it, so this answer is never sent.
  run_abandoned: { outcome: 'failed', status: 503, title: 'An earlier run of the handlers was cut off' },
  store_unavailable: { outcome: 'failed', status: 503, title: 'The store is unavailable' },
  keys_unavailable: { outcome: 'failed', status: 503, title: 'The signing keys are unavailable' },
  buffer_full: { outcome: 'failed', status: 503, title: 'Too many bodies are being read' },
  closing: { outcome: 'failed', status: 503, title: 'The receiver is closing' },
  queue_unavailable: { outcome: 'failed', status: 503, title: 'The queue is unavailable' },
  too_many_running: { outcome: 'failed', status: 503, title: 'Too many handlers are running' },
  // Only workers see these two: no delivery is answered with them.
  job_unreadable: { outcome: 'failed', status: 500, title: 'The job cannot be read' },
  handler_missing: { outcome: 'failed', status: 500, title: 'This worker lacks a handler of the event' },
  no_handlers: { outcome: 'failed', status: 503, title: 'No handler is registered' },
  event_running: { outcome: 'busy', status: 503, title: 'Another delivery of this event is being handled' },
};

/** Creates the result of a delivery that failed with `error`. */
export function refuse(error: unknown): Refused {
  const reported = toReportedError(error);
  return { outcome: refusals[reported.code].outcome, id: undefined, error: reported };
}

/** Returns an error that a report can have: the value itself, or an {@link InternalError} that it caused. */
export function toReportedError(error: unknown): ReportedError {
  if (isReportedError(error)) return error;
  return new InternalError('internal_error', 'the receiver failed', { cause: error });
}

function isReportedError(error: unknown): error is ReportedError {
  return isPosthornError(error) && isReportCode(error.code);
}

/** Returns true for a code that a report can have. */
export function isReportCode(code: string): code is ReportCode {
  return Object.hasOwn(refusals, code);
}

/** Returns true for a result that becomes a 2xx. */
export function isSuccess(answer: Answer): answer is Accepted {
  return answer.id !== undefined;
}

/** The HTTP status of a result. */
export function statusOf(answer: Answer): number {
  if (!isSuccess(answer)) return refusals[answer.error.code].status;
  return answer.outcome === 'queued' ? 202 : 200;
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
  if (isSuccess(answer)) {
    const body = `{"outcome":"${answer.outcome}","id":${JSON.stringify(answer.id)}}`;
    return { status, headers: SUCCESS_HEADERS, body, close, drainMs };
  }
  const { code } = answer.error;
  const body = JSON.stringify({ title: refusals[code].title, status, code });
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
