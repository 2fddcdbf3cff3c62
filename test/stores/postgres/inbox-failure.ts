import { InboxError } from 'posthorn/postgres';

/**
 * Whether a run failed with an error of the inbox. On a busy machine it can come after the deadline, and is
 * then in a late report.
 */
export function isInboxError(cause: unknown, code: InboxError['code']): boolean {
  return cause instanceof InboxError && cause.code === code;
}
