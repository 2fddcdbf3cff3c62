import { ConfigurationError } from '../../receiver/errors.ts';
import { propertyOf } from '../../receiver/values/foreign-values.ts';

/** The parts of a connection of `node:sqlite` or better-sqlite3 that posthorn uses. */
export interface SqliteDatabase {
  /** Runs statements without parameters. */
  exec(sql: string): unknown;
  /** Compiles one statement. */
  prepare(sql: string): SqliteStatement;
  /** True while a transaction is open; better-sqlite3 has it. */
  readonly inTransaction?: boolean;
  /** True while a transaction is open; `node:sqlite` has it. */
  readonly isTransaction?: boolean;
}

/** The parts of a compiled statement of `node:sqlite` or better-sqlite3 that posthorn uses. */
export interface SqliteStatement {
  /** Runs the statement; what it returns counts the rows that were changed. */
  run(...values: SqliteParameter[]): unknown;
  /** Returns the first row, or undefined. */
  get(...values: SqliteParameter[]): unknown;
  /** Returns all rows. */
  all(...values: SqliteParameter[]): unknown[];
}

/** A value that both clients take as a parameter. */
export type SqliteParameter = null | number | bigint | string | Uint8Array;

/** Throws {@link ConfigurationError} unless `database` is a connection. */
export function checkDatabase(functionName: string, database: SqliteDatabase): void {
  const isDatabase = ['exec', 'prepare'].every((name) => typeof propertyOf(database, name) === 'function');
  if (isDatabase) return;
  throw new ConfigurationError(
    `${functionName} takes a database of node:sqlite or better-sqlite3: ` +
      "new DatabaseSync('events.db') or new Database('events.db')",
  );
}
