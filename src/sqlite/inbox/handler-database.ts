import { InboxError } from '../../inbox/inbox-error.ts';
import type { SqliteConnection } from '../connection.ts';
import type { SqliteParameter, SqliteStatement } from '../database.ts';
import { endsTransaction } from './ending-statements.ts';

/**
 * The database as a handler gets it: what is written in it is committed together with the inbox's record. It
 * is dead once the handler has returned.
 */
export interface SqliteTransaction {
  /** Runs statements without parameters. */
  readonly exec: (sql: string) => void;
  /**
   * Compiles one statement. BEGIN, COMMIT and ROLLBACK are up to the inbox; SAVEPOINT, RELEASE and
   * ROLLBACK TO are not.
   *
   * @throws InboxError (`inbox_transaction_ended`) once the handler has ended, and for statements that would
   * end the transaction, or have ended it; whatever SQLite refuses.
   */
  readonly prepare: (sql: string) => SqliteStatement;
}

/** The database of one run of a handler, until it is closed. */
export class HandlerDatabase implements SqliteTransaction {
  /** The last error of a statement; the handler may have swallowed it. */
  failure: unknown;
  readonly #connection: SqliteConnection;
  #isClosed = false;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  // Properties, so that they can be taken out of their object.
  readonly exec = (sql: string): void => {
    checkText(sql);
    this.#run(() => this.#connection.exec(sql));
  };

  readonly prepare = (sql: string): SqliteStatement => {
    checkText(sql);
    const statement = this.#run(() => this.#connection.prepare(sql));
    return {
      run: (...values: SqliteParameter[]) => this.#run(() => statement.run(...values)),
      get: (...values: SqliteParameter[]) => this.#run(() => statement.get(...values)),
      all: (...values: SqliteParameter[]) => this.#run(() => statement.all(...values)),
    };
  };

  /** Takes no more statements. */
  close(): void {
    this.#isClosed = true;
  }

  /**
   * Throws if SQLite has rolled the transaction back: after an error it may have done so by itself, such as
   * for a full disk or by ON CONFLICT ROLLBACK. What is written then would be committed without the record.
   */
  checkAlive(): void {
    if (this.failure === undefined || this.#connection.isInTransaction()) return;
    throw new InboxError(
      'inbox_rolled_back',
      'SQLite has rolled back the transaction of the handler because of an error: let the error out of the handler',
      { cause: this.failure },
    );
  }

  #run<T>(work: () => T): T {
    if (this.#isClosed) throw ended();
    this.checkAlive();
    try {
      return work();
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }
}

function checkText(sql: string): void {
  if (!endsTransaction(String(sql))) return;
  throw new InboxError(
    'inbox_transaction_ended',
    'the inbox begins and ends the transaction of a handler: what one writes that has ended its transaction itself ' +
      'is not tied to the record of the inbox; SAVEPOINT, RELEASE and ROLLBACK TO are free',
  );
}

function ended(): InboxError {
  return new InboxError(
    'inbox_transaction_ended',
    'the transaction has ended: the handler has returned, and context.database is for its time only',
  );
}
