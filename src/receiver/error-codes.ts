/**
 * Every error code, by the class of its errors. All types of codes derive from this table, and docs/errors.md
 * explains each code.
 */
export const errorCodes = {
  ConfigurationError: ['configuration_invalid', 'body_already_parsed'],
  PermanentError: ['permanent'],
  CredentialsError: ['credentials_invalid'],
  SignatureError: [
    'signature_missing',
    'signature_repeated',
    'signature_malformed',
    'signature_mismatch',
    'signature_expired',
  ],
  RequestError: [
    'not_found',
    'account_unknown',
    'method_not_allowed',
    'encoding_unsupported',
    'body_too_large',
    'body_timeout',
    'body_incomplete',
  ],
  EventError: [
    'body_not_json',
    'envelope_invalid',
    'event_too_old',
    'event_in_future',
    'body_missing',
    'handler_unfinished',
  ],
  DataError: ['data_invalid'],
  HandlerError: ['handler_failed', 'handler_failed_permanently'],
  UnavailableError: [
    'deadline_reached',
    'event_running',
    'key_busy',
    'store_unavailable',
    'keys_unavailable',
    'buffer_full',
    'closing',
    'no_handlers',
    'queue_unavailable',
    'too_many_running',
    'provider_mismatch',
  ],
  AbortedError: ['lease_lost', 'completed_elsewhere', 'run_timeout', 'run_closed', 'run_abandoned'],
  JobError: ['job_unreadable', 'handler_missing'],
  DeadLetterError: ['dead_letter_invalid', 'dead_letter_unreadable', 'dead_letters_unavailable'],
  JournalError: ['journal_unavailable', 'journal_id_ambiguous', 'journal_entry_missing'],
  InternalError: ['internal_error'],
  /** `posthorn/postgres` and `posthorn/sqlite` throw them. */
  InboxError: [
    'inbox_busy',
    'inbox_unavailable',
    'inbox_rolled_back',
    'inbox_commit_unknown',
    'inbox_transaction_ended',
    'inbox_latest_invalid',
    'inbox_handler_async',
  ],
  /** `posthorn/client` throws them. */
  ServiceError: [
    'service_refused',
    'service_unreachable',
    'service_timeout',
    'answer_invalid',
    'answer_too_large',
    'credentials_unavailable',
    'e_check_failed',
    'list_repeated',
    'list_incomplete',
    'list_too_long',
    'webhook_ambiguous',
    'webhook_disabled',
    'webhook_left_enabled',
  ],
  /** `posthorn/sandbox` throws it. */
  RefusedError: ['request_refused'],
} as const;

/** The name of a class of errors. */
export type ErrorClass = keyof typeof errorCodes;

/** The codes of one class of errors. */
export type CodeOf<Class extends ErrorClass> = (typeof errorCodes)[Class][number];

/**
 * The `code` of any error of posthorn, those of `posthorn/postgres`, `posthorn/sqlite`, `posthorn/client` and
 * `posthorn/sandbox` included.
 */
export type ErrorCode = CodeOf<ErrorClass>;
