import { ConfigurationError } from '../../receiver/errors.ts';
import { propertyOf, show } from '../../receiver/values/foreign-values.ts';

/** The parts of a `Pool` of `pg` 8 that posthorn uses. */
export interface PostgresPool {
  /** The number of clients in the pool. posthorn tells a pool from a single client by it. */
  readonly totalCount: number;
  /**
   * Calls back with a client that is taken out of the pool until it is released, or with an error. posthorn
   * does not use the promise of `pg`, because it has to listen to the client at once.
   */
  connect(callback: (error: Error | undefined, client: PostgresClient | undefined) => void): void;
}

/** The parts of a client of `pg` 8 that posthorn uses. */
export interface PostgresClient {
  /** Runs one statement with parameters, or several without. */
  query(statement: string | PostgresQuery, values?: unknown[]): Promise<PostgresResult>;
  /** Gives the client back to its pool, which closes it if there was an error. */
  release(error?: Error | boolean): void;
  /** posthorn listens while it has the client: without a listener a lost connection ends the process. */
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** Ends the listening, when the client is given back. */
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
}

/** A statement of posthorn, which has parsers of its own: those of the pool are for the application. */
export interface PostgresQuery {
  /** The SQL. */
  readonly text: string;
  /** The values of `$1`, `$2`, … */
  readonly values?: unknown[] | undefined;
  /** Gives the parser of the values of a type, whose number PostgreSQL calls its OID. */
  readonly types: { readonly getTypeParser: (oid: number) => (value: string) => unknown };
}

/** The parts of a result of `pg` 8 that posthorn uses. */
export interface PostgresResult {
  /** For example `INSERT`; after a COMMIT that rolled back it is `ROLLBACK`. */
  readonly command: string;
  /** The number of rows that a statement has inserted, changed, deleted or returned. */
  readonly rowCount: number | null;
  /** The rows that it has returned. */
  readonly rows: readonly { readonly [column: string]: unknown }[];
}

/**
 * A column of the first row as a text: of a result of `pg`, or of a list of rows, which other clients give.
 * Undefined if it is null, or not there.
 */
export function columnOf(result: unknown, column: string): string | undefined {
  const rows = Array.isArray(result) ? result : propertyOf(result, 'rows');
  const value = propertyOf(propertyOf(rows, 0), column);
  return value === undefined || value === null ? undefined : String(value);
}

/** The schema of posthorn's tables unless told otherwise. */
const DEFAULT_SCHEMA = 'posthorn';

/** Throws {@link ConfigurationError} unless `pool` is a pool of `pg`. */
export function checkPool(functionName: string, pool: PostgresPool): void {
  const [connect, totalCount] = [propertyOf(pool, 'connect'), propertyOf(pool, 'totalCount')];
  if (typeof connect === 'function' && typeof totalCount === 'number') return;
  throw new ConfigurationError(`${functionName} takes a pool of pg 8: new Pool(…)`);
}

/**
 * Reads the name of a schema, and quotes it for SQL; throws {@link ConfigurationError}. PostgreSQL cuts names
 * after 63 bytes, and keeps `pg_…` for itself.
 */
export function readSchema(functionName: string, schema: unknown): string {
  if (schema === undefined) return `"${DEFAULT_SCHEMA}"`;
  if (typeof schema === 'string' && /^(?!pg_)[A-Za-z_][A-Za-z0-9_-]{0,62}$/.test(schema))
    return `"${schema}"`;
  throw new ConfigurationError(
    `schema of ${functionName} must be 1 to 63 letters, digits, "_" or "-" that begin with a letter or "_" ` +
      `and not with "pg_", for example "${DEFAULT_SCHEMA}"; got ${show(schema)}`,
  );
}
