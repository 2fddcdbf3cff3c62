import { ConfigurationError } from '../errors.ts';
import { propertyOf } from '../foreign-values.ts';

/** PostgreSQL has refused a statement; the connection is as good as before. */
export function isRefusal(error: unknown): boolean {
  return propertyOf(error, 'severity') === 'ERROR';
}

/**
 * serialization_failure, deadlock_detected and lock_not_available: another transaction came first, so a
 * second try may succeed.
 */
const CONFLICTS = ['40001', '40P01', '55P03'];

/** PostgreSQL has refused a transaction for the sake of another one. */
export function isConflict(error: unknown): boolean {
  return CONFLICTS.some((code) => propertyOf(error, 'code') === code);
}

/** undefined_table, undefined_function and invalid_schema_name. */
const MISSING = ['42P01', '42883', '3F000'];

/** Says what to do where the tables are not there; returns any other error as it is. `schema` is quoted. */
export function explain(schema: string, error: unknown): unknown {
  if (!MISSING.some((code) => propertyOf(error, 'code') === code)) return error;
  return new ConfigurationError(
    `the tables of posthorn are missing in the schema ${schema}, or older than this version: ` +
      'run migratePostgres(pool) or "posthorn postgres migrate"',
    { cause: error },
  );
}
