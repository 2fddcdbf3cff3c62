import { ConfigurationError } from '../../../receiver/errors.ts';
import { messageOf, propertyOf, typeNameOf } from '../../../receiver/values/foreign-values.ts';
import { endedByHandler, endingRefused, InboxError } from '../../kit/inbox/inbox-error.ts';
import type { PostgresConnection } from '../connection.ts';
import { endsTransaction, mayEndTransaction } from './ends-transaction.ts';
import type { TransactionRecord } from './record.ts';

/** A statement as an object, as `pg` takes it. */
export interface PostgresStatement {
  /** The SQL. */
  readonly text: string;
  /** The values of `$1`, `$2`, … */
  readonly values?: readonly unknown[];
  /** Everything else that `pg` understands: `name`, `rowMode`, `types`, … */
  readonly [option: string]: unknown;
}

/** The result of a statement, as `pg` gives it. */
export interface PostgresRows<Row> {
  /** The rows that the statement has returned. */
  readonly rows: Row[];
  /** The number of rows that the statement has inserted, changed, deleted or returned. */
  readonly rowCount: number | null;
  /** The verb of the statement, such as `INSERT`. */
  readonly command: string;
}

/** The transaction of a handler: what is written in it is committed together with the inbox's record. */
export interface PostgresTransaction {
  /**
   * Runs one or several statements, after those that were given before. A handler may use SAVEPOINT and
   * ROLLBACK TO, but only the inbox may use BEGIN, COMMIT and ROLLBACK. If a text ends the transaction, the
   * attempt fails; it fails for good if the text has committed something.
   *
   * @throws InboxError (`inbox_transaction_ended`) once the handler has ended, or its `signal` has aborted,
   * and for statements that would end the transaction, or have ended it; ConfigurationError for cursors and
   * callbacks; whatever PostgreSQL refuses.
   */
  readonly query: <Row extends object = Record<string, unknown>>(
    statement: string | PostgresStatement,
    values?: readonly unknown[],
  ) => Promise<PostgresRows<Row>>;
}

/**
 * The first words of the tags of statements that begin or end a transaction, as `pg` gives them. ROLLBACK is
 * also the tag of ROLLBACK TO, PREPARE also that of a prepared statement.
 */
const ENDING_COMMANDS = new Set(['BEGIN', 'START', 'COMMIT', 'ROLLBACK', 'PREPARE']);

/** The transaction as a handler gets it, until it is closed. One statement at a time goes to the client. */
export class HandlerTransaction implements PostgresTransaction {
  /** The error of the last statement that failed; a handler may have swallowed it. */
  failure: unknown;
  /** True if only a query can tell whether the transaction is still the one that was begun. */
  isInDoubt = false;
  /** The record of the inbox in the transaction. */
  readonly record: TransactionRecord;
  readonly #connection: PostgresConnection;
  #endedBy: InboxError | undefined;
  #isClosed = false;
  #mayRun = true;
  #last: Promise<unknown> = Promise.resolve();
  /** The number of statements that have not ended; one of them may have been sent. */
  #given = 0;
  #isRunning = false;

  constructor(connection: PostgresConnection, record: TransactionRecord) {
    this.#connection = connection;
    this.record = record;
  }

  /** True if the handler is known to have ended the transaction. */
  get hasEnded(): boolean {
    return this.#endedBy !== undefined;
  }

  // A property, so that it can be taken out of its object.
  readonly query = <Row extends object = Record<string, unknown>>(
    statement: string | PostgresStatement,
    values?: readonly unknown[],
  ): Promise<PostgresRows<Row>> => {
    const refusal = this.#isClosed ? closed() : refusalOf(statement, values);
    if (refusal !== undefined) return Promise.reject(refusal);
    const run = (): Promise<unknown> => this.#run(statement, values);
    const result = this.#given === 0 ? run() : this.#last.then(run);
    this.#given += 1;
    const end = (): void => {
      this.#given -= 1;
    };
    this.#last = result.then(end, end);
    // The caller knows what columns it selects.
    return result as Promise<PostgresRows<Row>>;
  };

  /**
   * Throws if the handler has ended the transaction, or the connection was lost: PostgreSQL has rolled back,
   * and `pg` forgets the reason.
   */
  checkAlive(): void {
    if (this.#endedBy !== undefined) throw this.#endedBy;
    const { lostBy } = this.#connection;
    if (lostBy === undefined) return;
    const message = `the connection of the transaction was lost: ${messageOf(lostBy)}`;
    throw new InboxError('inbox_rolled_back', message, { cause: lostBy });
  }

  /** Takes no more statements. Resolves with the end of those that were given before, if they still run. */
  finish(): Promise<unknown> | undefined {
    this.#isClosed = true;
    return this.#given === 0 ? undefined : this.#last;
  }

  /** Takes no more statements, and runs none of those that wait; resolves with the end of one that runs. */
  stop(): Promise<unknown> | undefined {
    this.#isClosed = true;
    this.#mayRun = false;
    return this.#isRunning ? this.#last : undefined;
  }

  async #run(
    statement: string | PostgresStatement,
    values: readonly unknown[] | undefined,
  ): Promise<unknown> {
    if (!this.#mayRun) throw closed();
    this.checkAlive();
    this.#isRunning = true;
    const mayEnd = mayEndTransaction(textOf(statement) ?? '');
    try {
      if (mayEnd) await this.record.withhold();
      const parameters = values === undefined ? [] : [[...values]];
      const { client } = this.#connection;
      const result: unknown = await Reflect.apply(client.query, client, [statement, ...parameters]);
      if (hasEndingCommand(result)) await this.#checkTransaction();
      return result;
    } catch (error) {
      this.failure = error;
      this.isInDoubt = true;
      // Statements before the error have no results, and one may have ended the transaction.
      if (mayEnd && !this.hasEnded) await this.#checkTransaction(error);
      throw error;
    } finally {
      this.#isRunning = false;
    }
  }

  /** Throws if the transaction is not the one that was begun any more: from then on nothing is sent. */
  async #checkTransaction(cause?: unknown): Promise<void> {
    try {
      this.isInDoubt = !(await this.record.isInTransaction());
    } catch {
      // A failed transaction refuses every statement until a ROLLBACK TO.
      this.isInDoubt = true;
      return;
    }
    if (!this.isInDoubt) return;
    this.#endedBy = endedByHandler(cause);
    throw this.#endedBy;
  }
}

/** Several statements in one text give a list of results. */
function hasEndingCommand(result: unknown): boolean {
  const isEnding = (one: unknown): boolean => ENDING_COMMANDS.has(String(propertyOf(one, 'command')));
  return Array.isArray(result) ? result.some(isEnding) : isEnding(result);
}

/** The SQL of a statement, or undefined if it is not one. */
function textOf(statement: unknown): string | undefined {
  const text = typeof statement === 'string' ? statement : propertyOf(statement, 'text');
  return typeof text === 'string' ? text : undefined;
}

function refusalOf(statement: unknown, values: unknown): Error | undefined {
  const text = textOf(statement);
  // A cursor, or a statement with a callback, would end at another time than its promise.
  const isCursorOrCallback = [
    propertyOf(statement, 'submit'),
    propertyOf(statement, 'callback'),
    values,
  ].some((member) => typeof member === 'function');
  if (text === undefined || isCursorOrCallback) {
    return new ConfigurationError(
      'transaction.query takes SQL, or an object with text and values, and no cursor and no callback; ' +
        `got ${typeNameOf(statement)}`,
    );
  }
  return endsTransaction(text) ? endingRefused('SAVEPOINT and ROLLBACK TO') : undefined;
}

function closed(): InboxError {
  return new InboxError(
    'inbox_transaction_ended',
    'the transaction has ended: the handler has returned, or its signal has aborted; await every query',
  );
}
