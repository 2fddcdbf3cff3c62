import { brandClasses, CodedError, PermanentError } from '../../../receiver/errors.ts';
import { isInstance, messageOf } from '../../../receiver/values/foreign-values.ts';

/**
 * The inbox could not run a handler, commit its work, or confirm the commit. This error is the `cause` of
 * `handler_failed`; an error that the handler throws stays as it is.
 */
export class InboxError extends CodedError<'InboxError'> {}

brandClasses({ InboxError });

/** The error if not all statements of a handler were in the transaction of the inbox. */
export function endedByHandler(cause?: unknown): InboxError {
  return new InboxError(
    'inbox_transaction_ended',
    'the handler has ended its transaction itself: what it wrote is not tied to the record of the inbox; ' +
      'leave COMMIT and ROLLBACK to the inbox',
    { cause },
  );
}

/** The error if a handler has committed writes itself: each further run would commit them again. */
export function committedByHandler(cause: unknown, advice = ''): PermanentError {
  return new PermanentError(
    'the handler has ended its transaction itself, and rows that it wrote may have been committed: look at them ' +
      `before the event is replayed, dropped or run again, and leave COMMIT and ROLLBACK to the inbox${advice}`,
    { cause },
  );
}

/** The error for a statement that would end the transaction. `allowed` names statements that would not. */
export function endingRefused(allowed: string): InboxError {
  return new InboxError(
    'inbox_transaction_ended',
    'the inbox begins and ends the transaction of a handler: what one writes that has ended its transaction itself ' +
      `is not tied to the record of the inbox; ${allowed} are free`,
  );
}

/** Returns true for an InboxError with the code of {@link endedByHandler}. */
export function isEndedByHandler(error: unknown): boolean {
  return isInstance(error, InboxError) && error.code === 'inbox_transaction_ended';
}

/** The error if a handler went on after an SQL error, in a transaction that could only be rolled back. */
export function swallowed(server: string, cause: unknown): InboxError {
  return new InboxError(
    'inbox_rolled_back',
    `an SQL error was swallowed, and ${server} has rolled back: ${messageOf(cause)}. ` +
      'Let the error out of the handler, or use a SAVEPOINT',
    { cause },
  );
}
