import { DeadLetterError } from '../../receiver/errors.ts';
import { messageOf } from '../../receiver/values/foreign-values.ts';

/** The error of an operation on dead letters that failed. */
export function deadLettersError(server: string, scope: string, cause: unknown): DeadLetterError {
  const message = `the dead letters of ${scope} in ${server} failed: ${messageOf(cause)}`;
  return new DeadLetterError('dead_letters_unavailable', message, { cause });
}
