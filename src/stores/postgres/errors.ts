import { ConfigurationError } from '../../receiver/errors.ts';
import { isError, messageOf, propertyOf } from '../../receiver/values/foreign-values.ts';

/** The number of errors that are looked through: most clients wrap the error of `pg`. */
const MAX_WRAPPED = 5;

/** The five characters by which PostgreSQL names an error (SQLSTATE), from the error or one that it wraps. */
export function sqlStateOf(error: unknown): string | undefined {
  let current = error;
  for (let depth = 0; depth < MAX_WRAPPED && current !== undefined; depth += 1) {
    const state = propertyOf(current, isFromPostgres(current) ? 'code' : 'originalCode');
    if (typeof state === 'string' && /^[0-9A-Z]{5}$/.test(state)) return state;
    current = wrappedIn(current);
  }
  return undefined;
}

/** An error of PostgreSQL has a severity; `EPIPE`, whose code has five characters too, has none. */
function isFromPostgres(error: unknown): boolean {
  return propertyOf(error, 'severity') !== undefined;
}

/**
 * Prisma has its own place for an error of its driver adapter. That error was made from the one of `pg`,
 * whose code it keeps as `originalCode`.
 */
function wrappedIn(error: unknown): unknown {
  return propertyOf(error, 'cause') ?? propertyOf(propertyOf(error, 'meta'), 'driverAdapterError');
}

/** Another transaction has locked a row or a table for longer than `lock_timeout`. */
export const LOCK_NOT_AVAILABLE = '55P03';
/** The statement came after one that had failed: nothing of the transaction can be committed. */
export const IN_FAILED_TRANSACTION = '25P02';
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
const UNDEFINED_TABLE = '42P01';
const UNDEFINED_FUNCTION = '42883';
const INVALID_SCHEMA_NAME = '3F000';

/** PostgreSQL has answered that it did nothing; the connection is as good as before. */
export function isRefusal(error: unknown): boolean {
  return propertyOf(error, 'severity') === 'ERROR';
}

/** PostgreSQL answers, but does not know the database or the role, or does not accept the password. */
export function isRefusedConnection(error: unknown): boolean {
  return /^(28|3D)/.test(sqlStateOf(error) ?? '');
}

/** PostgreSQL has rolled back because of other transactions: the same work can succeed at once. */
export function mayRunAgain(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === SERIALIZATION_FAILURE || state === DEADLOCK_DETECTED;
}

/** PostgreSQL has refused a statement because of other transactions: a second try can succeed. */
export function isTemporary(error: unknown): boolean {
  return mayRunAgain(error) || sqlStateOf(error) === LOCK_NOT_AVAILABLE;
}

/** PostgreSQL answered a COMMIT with an error that says that nothing was committed. */
export function isRefusedCommit(error: unknown): boolean {
  const state = sqlStateOf(error);
  // Connection lost, server shutting down, system or internal error, completion unknown: it may be committed.
  return state !== undefined && !/^(08|57|58|XX|40003)/.test(state);
}

/** Says what to do if the tables are missing; returns any other error as it is. `schema` is quoted. */
export function explain(schema: string, error: unknown): Error {
  const state = sqlStateOf(error);
  const isMissing =
    state === UNDEFINED_TABLE || state === UNDEFINED_FUNCTION || state === INVALID_SCHEMA_NAME;
  if (!isMissing) return isError(error) ? error : new Error(messageOf(error), { cause: error });
  const name = schema.replaceAll('"', '');
  const options = name === 'posthorn' ? '' : `, { schema: '${name}' }`;
  const argument = name === 'posthorn' ? '' : ` --schema ${name}`;
  return new ConfigurationError(
    `the tables of posthorn are missing in the schema ${schema}, or older than this version: ` +
      `if this is the right database, run migratePostgres(pool${options}) or "npx posthorn postgres migrate${argument}" with POSTGRES_URL set`,
    { cause: error },
  );
}

/** The error of a statement that has not been answered in time. */
export function lateError(): Error {
  return new Error('PostgreSQL gave no answer in time');
}

/** The error of a statement that could not be sent. */
export function noClientError(): Error {
  return new Error('the pool had no client in time: it is exhausted, or PostgreSQL cannot be reached');
}
