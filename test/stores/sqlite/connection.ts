import type { SqliteDatabase, SqliteStatement } from 'posthorn/sqlite';

/** The parts of a connection of libsql or better-sqlite3 that tests use. */
export interface DriverConnection extends SqliteDatabase {
  readonly inTransaction: boolean;
  /** Gives integers as bigints. */
  defaultSafeIntegers(): unknown;
  close(): unknown;
}

/** The class of a connection, which libsql and better-sqlite3 have alike. */
export type Driver = new (
  path: string,
  options: { readonly timeout: number; readonly readonly?: boolean },
) => DriverConnection;

/** Opens a file, with one of the drivers. */
export type OpenDatabase = (path: string, options?: { readonly readonly?: boolean }) => Connection;

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** libsql adds the time that a row took. */
function withoutMetadata(row: unknown): unknown {
  if (typeof row === 'object' && row !== null) Reflect.deleteProperty(row, '_metadata');
  return row;
}

const NOW = "unixepoch('subsec')";

/** A connection that can go by a clock of the test. */
export class Connection implements SqliteDatabase {
  readonly #inner: DriverConnection;
  #now: (() => number) | undefined;

  constructor(inner: DriverConnection) {
    this.#inner = inner;
  }

  /** Gives the statements the time of a clock of the test, in milliseconds; it is asked once for each. */
  setClock(now: () => number): void {
    this.#now = now;
  }

  get inTransaction(): boolean {
    return this.#inner.inTransaction;
  }

  exec(sql: string): unknown {
    return this.#inner.exec(withTime(sql, this.#now?.()));
  }

  prepare(sql: string): SqliteStatement {
    const isTimed = sql.includes(NOW);
    let compiled: SqliteStatement | undefined = this.#inner.prepare(sql);
    let compiledFor: number | undefined;
    const run = <Result>(use: (statement: SqliteStatement) => Result): Result => {
      const now = isTimed ? this.#now?.() : undefined;
      // Compiled again for each time: libsql cannot replace a function of SQLite.
      if (now !== compiledFor) compiled = undefined;
      compiled ??= this.#inner.prepare(withTime(sql, now));
      compiledFor = now;
      try {
        return use(compiled);
      } catch (error) {
        // libsql would run the next call with the values of this one. But what is busy stays so until it is
        // called again.
        if (codeOf(error) !== 'SQLITE_BUSY') compiled = undefined;
        throw error;
      }
    };
    return {
      run: (...values) => run((statement) => statement.run(...values)),
      get: (...values) => withoutMetadata(run((statement) => statement.get(...values))),
      all: (...values) => run((statement) => statement.all(...values)),
    };
  }

  defaultSafeIntegers(): void {
    this.#inner.defaultSafeIntegers();
  }

  close(): unknown {
    return this.#inner.close();
  }
}

function withTime(sql: string, now: number | undefined): string {
  return now === undefined ? sql : sql.replaceAll(NOW, (now / 1_000).toFixed(6));
}

/** Opens files so that integers of rows are bigints. */
export const safely =
  (open: OpenDatabase): OpenDatabase =>
  (path, options) => {
    const connection = open(path, options);
    connection.defaultSafeIntegers();
    return connection;
  };
