import type { CodeOf, ErrorCode } from './error-codes.ts';

/**
 * The codes that a report can have. Errors that are only thrown, or only given as a reason, have other codes.
 */
export type ReportCode = Exclude<
  ErrorCode,
  | ('permanent' | 'lease_lost' | 'completed_elsewhere')
  | CodeOf<'DeadLetterError' | 'JournalError' | 'InboxError' | 'ServiceError' | 'RefusedError'>
>;

/** An outcome whose answer is a 4xx or 5xx. */
export type RefusedOutcome = 'rejected' | 'failed' | 'busy';

/** The refusal of a delivery. */
type Refusal = readonly [outcome: RefusedOutcome, status: number, title: string];

/** The refusal of a delivery, by the code of its error. The member `status` of errors is from here too. */
export const refusals: Readonly<Record<ReportCode, Refusal>> = {
  not_found: ['rejected', 404, 'Nothing is served under this path'],
  account_unknown: ['rejected', 404, 'The account is unknown'],
  method_not_allowed: ['rejected', 405, 'Only POST is accepted here'],
  credentials_invalid: ['rejected', 401, 'The credentials are missing or wrong'],
  signature_missing: ['rejected', 403, 'The signature is missing'],
  signature_repeated: ['rejected', 403, 'The signature was sent more than once'],
  signature_malformed: ['rejected', 403, 'The signature is malformed'],
  signature_mismatch: ['rejected', 403, 'The signature does not match the body'],
  signature_expired: ['rejected', 403, 'The signature is too old, or ahead of the clock'],
  encoding_unsupported: ['rejected', 415, 'Only identity is accepted as content encoding'],
  body_too_large: ['rejected', 413, 'The body is too large'],
  body_timeout: ['rejected', 408, 'The body took too long to arrive'],
  body_incomplete: ['rejected', 400, 'The body was cut short'],
  body_not_json: ['rejected', 400, 'The body is not JSON in strict UTF-8'],
  envelope_invalid: ['rejected', 400, 'The body is not an event'],
  event_too_old: ['rejected', 400, 'The event is too old'],
  event_in_future: ['rejected', 400, 'The event lies in the future'],
  // Only reruns see these two.
  body_missing: ['rejected', 400, 'The journal has no body of the event'],
  handler_unfinished: ['rejected', 400, 'A handler of the event has not finished'],
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
  // Only replays and workers see these three: no delivery is answered with them.
  provider_mismatch: ['failed', 500, 'The event is of another provider'],
  job_unreadable: ['failed', 500, 'The job cannot be read'],
  handler_missing: ['failed', 500, 'This worker lacks a handler of the event'],
  no_handlers: ['failed', 503, 'No handler is registered'],
  event_running: ['busy', 503, 'Another delivery of this event is being handled'],
  key_busy: ['busy', 503, 'Another run has the key of a handler'],
};

/** Returns true for a code that a report can have. */
export function isReportCode(code: string): code is ReportCode {
  return Object.hasOwn(refusals, code);
}

/** The HTTP status for a report with this code; undefined if no report can have it. */
export function statusOfCode(code: ErrorCode): number | undefined {
  return isReportCode(code) ? refusals[code][1] : undefined;
}
