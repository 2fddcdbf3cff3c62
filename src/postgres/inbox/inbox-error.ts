import { brandClasses, CodedError } from '../../errors.ts';
import { propertyOf } from '../../foreign-values.ts';

/**
 * A handler of an inbox was not run to a confirmed commit. It is the `cause` of `handler_failed`; what a
 * handler throws itself stays as it is.
 */
export class InboxError extends CodedError<'InboxError'> {}

brandClasses({ InboxError });

/** How many causes are looked through: clients such as Drizzle wrap what `pg` throws. */
const MAX_CAUSES = 5;

/** The five characters by which PostgreSQL names an error (SQLSTATE), from the error or what caused it. */
export function sqlStateOf(error: unknown): string | undefined {
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES && current !== undefined; depth += 1) {
    const code = propertyOf(current, 'code');
    // An error of PostgreSQL has a severity; `EPIPE`, which has five characters too, has none.
    const isState = typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code);
    if (isState && propertyOf(current, 'severity') !== undefined) return code;
    current = propertyOf(current, 'cause');
  }
  return undefined;
}

/** A row or a table was locked by somebody else for longer than `lock_timeout`. */
export const LOCK_NOT_AVAILABLE = '55P03';
/** A statement came after one that had failed: nothing of the transaction can be committed. */
export const IN_FAILED_TRANSACTION = '25P02';
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';

/** PostgreSQL has rolled back because of other transactions: the same work can succeed at once. */
export function mayRunAgain(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === SERIALIZATION_FAILURE || state === DEADLOCK_DETECTED;
}

/** PostgreSQL answered a COMMIT with an error that says that nothing was committed. */
export function isRefusedCommit(error: unknown): boolean {
  const state = sqlStateOf(error);
  // Connection lost, server shutting down, system or internal error, completion unknown: nobody can tell.
  return state !== undefined && !/^(08|57|58|XX|40003)/.test(state);
}
