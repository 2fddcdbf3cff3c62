import { endingRefused, InboxError } from '../../kit/inbox/inbox-error.ts';
import type { SqliteParameter, SqliteStatement } from '../client.ts';
import type { SqliteConnection } from '../connection.ts';
import type { BegunTransaction } from './begun-transaction.ts';
import { endsTransaction } from './ends-transaction.ts';

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
   * @throws InboxError: `inbox_transaction_ended` once the handler has ended, or has committed by another
   * statement of the connection, and for statements that would end the transaction; `inbox_rolled_back` once
   * it was rolled back. Whatever SQLite refuses.
   */
  readonly prepare: (sql: string) => SqliteStatement;
}

/** The database of one run of a handler, until it is closed. */
export class HandlerDatabase implements SqliteTransaction {
  /** The last error of a statement; the handler may have swallowed it. */
  failure: unknown;
  readonly #connection: SqliteConnection;
  readonly #transaction: BegunTransaction;
  #isClosed = false;

  constructor(connection: SqliteConnection, transaction: BegunTransaction) {
    this.#connection = connection;
    this.#transaction = transaction;
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

  #run<T>(work: () => T): T {
    if (this.#isClosed) throw ended();
    this.#transaction.checkOpen(this.failure);
    try {
      return work();
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }
}

function checkText(sql: string): void {
  if (endsTransaction(String(sql))) throw endingRefused('SAVEPOINT, RELEASE and ROLLBACK TO');
}

function ended(): InboxError {
  return new InboxError(
    'inbox_transaction_ended',
    'the transaction has ended: the handler has returned, and context.database is for its time only',
  );
}
