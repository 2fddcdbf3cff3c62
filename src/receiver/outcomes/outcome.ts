import type { CodeOf, ErrorCode } from '../error-codes.ts';
import { InternalError, isPosthornError, type PosthornError } from '../errors.ts';
import type { Reply } from '../request/delivery.ts';

/** The end of a delivery. Each delivery has exactly one outcome. */
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
interface Accepted {
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

type Refusal = readonly [outcome: Refused['outcome'], status: number, title: string];

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
  not_found: ['rejected', 404, 'Nothing is served under this path'],
  method_not_allowed: ['rejected', 405, 'Only POST is accepted here'],
  credentials_invalid: ['rejected', 401, 'The credentials are missing or wrong'],
  signature_missing: ['rejected', 403, 'The signature is missing'],
  signature_repeated: ['rejected', 403, 'The signature was sent more than once'],
  signature_malformed: ['rejected', 403, 'The signature is malformed'],
  signature_mismatch: ['rejected', 403, 'The signature does not match the body'],
  encoding_unsupported: ['rejected', 415, 'Only identity is accepted as content encoding'],
  body_too_large: ['rejected', 413, 'The body is too large'],
  body_timeout: ['rejected', 408, 'The body took too long to arrive'],
  body_incomplete: ['rejected', 400, 'The body was cut short'],
  body_not_json: ['rejected', 400, 'The body is not JSON in strict UTF-8'],
  envelope_invalid: ['rejected', 400, 'The body is not an event'],
  event_too_old: ['rejected', 400, 'The event is too old'],
  event_in_future: ['rejected', 400, 'The event lies in the future'],
  handler_failed: ['failed', 500, 'A handler failed'],
  handler_failed_permanently: ['failed', 500, 'A handler failed, and no retry can help'],
  data_invalid: ['failed', 500, 'The data of the event is not what was expected'],
  body_already_parsed: ['failed', 500, 'The body was parsed before it could be verified'],
  configuration_invalid: ['failed', 500, 'The receiver is not set up correctly'],
  internal_error: ['failed', 500, 'The receiver failed'],
  deadline_reached: ['failed', 503, 'The handlers are still running'],
  run_timeout: ['failed', 503, 'The handlers ran for too long'],
  run_closed: ['failed', 503, 'The receiver is closing'],
  // An event is always parked with it, so this answer is never sent.
  run_abandoned: ['failed', 503, 'An earlier run of the handlers was cut off'],
  store_unavailable: ['failed', 503, 'The store is unavailable'],
  keys_unavailable: ['failed', 503, 'The signing keys are unavailable'],
  buffer_full: ['failed', 503, 'Too many bodies are being read'],
  closing: ['failed', 503, 'The receiver is closing'],
  queue_unavailable: ['failed', 503, 'The queue is unavailable'],
  too_many_running: ['failed', 503, 'Too many handlers are running'],
  // Only workers see these two: no delivery is answered with them.
  job_unreadable: ['failed', 500, 'The job cannot be read'],
  handler_missing: ['failed', 500, 'This worker lacks a handler of the event'],
  no_handlers: ['failed', 503, 'No handler is registered'],
  event_running: ['busy', 503, 'Another delivery of this event is being handled'],
};

/** Creates the result of a delivery that failed with `error`. */
export function refuse(error: unknown): Refused {
  const reported = toReportedError(error);
  const [outcome] = refusals[reported.code];
  return { outcome, id: undefined, error: reported };
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
  if (isSuccess(answer)) return answer.outcome === 'queued' ? 202 : 200;
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
