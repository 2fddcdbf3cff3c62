import { ConfigurationError } from '../../receiver/errors.ts';
import type { SqliteDatabase, SqliteStatement } from './client.ts';
import { isBusy, isInsideTransaction } from './errors.ts';
import { OpenFile } from './open-file.ts';
import type { SqlStatement } from './statement.ts';
import { migrations, READ_VERSION } from './tables.ts';
import { WriteQueue } from './write-queue.ts';

/** The columns of a row in their order: some options of the clients make rows arrays. */
export type Row = readonly unknown[];

/** The answer in place of a result if another connection has the lock. */
export const BUSY: unique symbol = Symbol('busy');

/** `pragma synchronous`: a COMMIT returns once the file system has synced what it wrote. */
const FULL = 2;

const BEGIN: SqlStatement = { sql: 'begin immediate', values: [] };
const COMMIT: SqlStatement = { sql: 'commit', values: [] };

/** Both settings in one statement, because it is run before each transaction. */
const READ_SETTINGS: SqlStatement = {
  sql: 'select timeout, synchronous from pragma_busy_timeout, pragma_synchronous',
  values: [],
};

/** A connection of the application, on which posthorn works in one turn of the event loop at a time. */
export class SqliteConnection {
  static readonly #ofDatabases = new WeakMap<SqliteDatabase, SqliteConnection>();

  /** The turns of all that writes on this connection. */
  readonly writes: WriteQueue = new WriteQueue(() => this.#readDataVersion());
  readonly #database: SqliteDatabase;
  readonly #compiled = new Map<string, SqliteStatement>();
  #isVersionKnown = false;
  /** Undefined until it is known; `none` for a database without a file. */
  #file: OpenFile | 'none' | undefined;

  private constructor(database: SqliteDatabase) {
    this.#database = database;
    try {
      this.#findFile();
    } catch {
      // Such as for a closed connection: its first use fails, with advice.
    }
  }

  /** The connection of a database; the same for all that share it: each statement is compiled once. */
  static of(database: SqliteDatabase): SqliteConnection {
    const connection = SqliteConnection.#ofDatabases.get(database) ?? new SqliteConnection(database);
    SqliteConnection.#ofDatabases.set(database, connection);
    return connection;
  }

  /** The path of the file; undefined for a database without one. */
  get path(): string | undefined {
    return this.#findFile()?.path;
  }

  /**
   * Runs work that reads the tables. Returns {@link BUSY} instead of waiting for a lock. Throws if the file
   * was deleted or moved.
   */
  read<T>(work: () => T): T | typeof BUSY {
    return this.withoutWaiting(() => {
      this.#checkVersion();
      const result = work();
      this.#findFile()?.check();
      return result;
    });
  }

  /** Does the same {@link inTransaction}. */
  write<T>(work: () => T): T | typeof BUSY {
    return this.withoutWaiting(() => {
      this.#checkVersion();
      return this.inTransaction(work);
    });
  }

  /** Runs work in which SQLite does not block the event loop for a lock: then this returns {@link BUSY}. */
  withoutWaiting<T>(work: () => T): T | typeof BUSY {
    return this.#withOwnSettings(() => {
      try {
        return work();
      } catch (error) {
        if (isBusy(error)) return BUSY;
        throw error;
      }
    });
  }

  /**
   * Runs work in a transaction, which is on the disk when this returns. Rolls it back if the work throws, and
   * if the file was deleted or moved.
   */
  inTransaction<T>(work: () => T): T {
    this.run(BEGIN);
    try {
      const result = work();
      this.#findFile()?.check();
      this.run(COMMIT);
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  /** Returns true if a transaction is open. */
  isInTransaction(): boolean {
    const { inTransaction, isTransaction } = this.#database;
    const isOpen = inTransaction ?? isTransaction;
    if (isOpen !== undefined) return isOpen;
    // `node:sqlite` says it from Node.js 22.16 on. A refused BEGIN takes as long as several statements.
    try {
      this.#database.exec('begin');
    } catch (error) {
      if (isInsideTransaction(error)) return true;
      throw error;
    }
    this.#rollBack();
    return false;
  }

  /** Runs statements without parameters. */
  exec(sql: string): void {
    this.#database.exec(sql);
  }

  /** Compiles a statement of the application. */
  prepare(sql: string): SqliteStatement {
    return this.#database.prepare(sql);
  }

  /** Returns the first row of a statement, if there is one. */
  first({ sql, values }: SqlStatement): Row | undefined {
    const row = this.#compile(sql).get(...values);
    return typeof row === 'object' && row !== null ? Object.values(row) : undefined;
  }

  /** Returns all rows of a statement. */
  all({ sql, values }: SqlStatement): readonly Row[] {
    return this.#compile(sql)
      .all(...values)
      .map((row) => Object.values(Object(row)));
  }

  /** Runs a statement that returns no rows. */
  run({ sql, values }: SqlStatement): void {
    this.#compile(sql).run(...values);
  }

  #compile(sql: string): SqliteStatement {
    const compiled = this.#compiled.get(sql) ?? this.#database.prepare(sql);
    this.#compiled.set(sql, compiled);
    return compiled;
  }

  /** See https://sqlite.org/pragma.html#pragma_data_version. Undefined if even reading must wait. */
  #readDataVersion(): unknown {
    try {
      return this.first({ sql: 'pragma data_version', values: [] })?.[0];
    } catch {
      return undefined;
    }
  }

  #findFile(): OpenFile | undefined {
    this.#file ??= OpenFile.of(this.#database) ?? 'none';
    return this.#file === 'none' ? undefined : this.#file;
  }

  #rollBack(): void {
    try {
      this.#database.exec('rollback');
    } catch {
      // SQLite has rolled back by itself, as it does when the disk is full.
    }
  }

  /** Runs work with the settings of posthorn, and puts those of the application back. */
  #withOwnSettings<T>(work: () => T): T {
    const [timeout, synchronous] = (this.first(READ_SETTINGS) ?? []).map(Number);
    const isOwn = timeout === 0 && synchronous !== undefined && synchronous >= FULL;
    if (isOwn) return work();
    try {
      this.#database.exec(`pragma busy_timeout = 0; pragma synchronous = ${FULL}`);
      return work();
    } finally {
      this.#database.exec(`pragma busy_timeout = ${timeout}; pragma synchronous = ${synchronous}`);
    }
  }

  #checkVersion(): void {
    if (this.#isVersionKnown) return;
    const [version] = this.first(READ_VERSION) ?? [];
    checkNotNewer(Number(version));
    if (Number(version) < migrations.length) {
      throw new ConfigurationError(
        `the tables of posthorn in this file have the version ${version}, and this posthorn needs ` +
          `${migrations.length}: call migrateSqlite(database), or run "npx posthorn sqlite migrate FILE"`,
      );
    }
    this.#isVersionKnown = true;
  }
}

/** Throws {@link ConfigurationError} if a later posthorn has made the tables. */
export function checkNotNewer(version: number): void {
  if (version <= migrations.length) return;
  throw new ConfigurationError(
    `a later posthorn has made the tables in this file: they have the version ${version}, and this posthorn ` +
      `knows ${migrations.length}; update posthorn in this process`,
  );
}
