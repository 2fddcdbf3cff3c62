import { ConfigurationError, messageOf, propertyOf, typeNameOf } from '../errors.ts';
import { InboxError } from './inbox-error.ts';
import type { LentClient } from './lent-client.ts';

/** A statement as an object, as `pg` takes it. */
export interface PostgresStatement {
  /** The SQL. */
  readonly text: string;
  /** The values of `$1`, `$2`, … */
  readonly values?: readonly unknown[];
  /** Everything else that `pg` understands: `name`, `rowMode`, `types`, … */
  readonly [option: string]: unknown;
}

/** What a statement gave: a result of `pg`. */
export interface PostgresRows<Row> {
  /** The rows that the statement has returned. */
  readonly rows: Row[];
  /** How many rows the statement has inserted, changed, deleted or returned. */
  readonly rowCount: number | null;
  /** For example `INSERT`. */
  readonly command: string;
}

/** The transaction of a handler: what is written in it is committed together with the inbox's record. */
export interface PostgresTransaction {
  /**
   * Runs a statement, after those that were given before it. BEGIN, COMMIT and ROLLBACK are up to the inbox;
   * SAVEPOINT and ROLLBACK TO are not.
   *
   * @throws InboxError (`inbox_transaction_ended`) once the handler has ended, or its `signal` has aborted,
   * and for statements that would end the transaction; whatever PostgreSQL refuses.
   */
  readonly query: <Row extends object = Record<string, unknown>>(
    statement: string | PostgresStatement,
    values?: readonly unknown[],
  ) => Promise<PostgresRows<Row>>;
}

/** Statements that would end the transaction, or seem to begin another one. */
const ENDS_TRANSACTION =
  /^[\s;]*(begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!\s+((work|transaction)\s+)?to\b))\b/i;

/** What is left to find out by its result: `select 1; commit` ends the transaction as well. */
const ENDING_COMMANDS = new Set(['BEGIN', 'START TRANSACTION', 'COMMIT', 'ROLLBACK', 'PREPARE TRANSACTION']);

/** The transaction as a handler gets it, until it is closed. One statement at a time goes to the client. */
export class HandlerTransaction implements PostgresTransaction {
  /** The last statement that failed with an error; a handler may have swallowed it. */
  failure: unknown;
  /** Whether it takes a look to know if the transaction is still the one that was begun. */
  isInDoubt = false;
  readonly #lent: LentClient;
  #isClosed = false;
  #mayRun = true;
  #last: Promise<unknown> = Promise.resolve();
  /** Statements that have not ended, and whether one of them has been sent. */
  #given = 0;
  #isRunning = false;

  constructor(lent: LentClient) {
    this.#lent = lent;
  }

  // A property, so that it can be taken out of its object.
  readonly query = <Row extends object = Record<string, unknown>>(
    statement: string | PostgresStatement,
    values?: readonly unknown[],
  ): Promise<PostgresRows<Row>> => {
    const refusal = this.#isClosed ? ended() : refusalOf(statement);
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

  /** Throws if the connection was lost: PostgreSQL has rolled back, and `pg` forgets the reason. */
  checkConnection(): void {
    const { lostBy } = this.#lent;
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
    if (!this.#mayRun) throw ended();
    this.checkConnection();
    this.#isRunning = true;
    try {
      const parameters = values === undefined ? [] : [[...values]];
      const { client } = this.#lent;
      const result: unknown = await Reflect.apply(client.query, client, [statement, ...parameters]);
      // Several statements in one text give a list.
      const isEnding = (one: unknown): boolean => ENDING_COMMANDS.has(String(propertyOf(one, 'command')));
      if (Array.isArray(result) ? result.some(isEnding) : isEnding(result)) this.isInDoubt = true;
      return result;
    } catch (error) {
      this.failure = error;
      this.isInDoubt = true;
      throw error;
    } finally {
      this.#isRunning = false;
    }
  }
}

function refusalOf(statement: unknown): Error | undefined {
  const text = typeof statement === 'string' ? statement : propertyOf(statement, 'text');
  if (typeof text !== 'string' || typeof propertyOf(statement, 'submit') === 'function') {
    return new ConfigurationError(
      `transaction.query takes SQL, or an object with text and values, and no cursor; got ${typeNameOf(statement)}`,
    );
  }
  if (!ENDS_TRANSACTION.test(text)) return undefined;
  return new InboxError(
    'inbox_transaction_ended',
    'the inbox begins and ends the transaction of a handler: a handler must not; SAVEPOINT and ROLLBACK TO are free',
  );
}

function ended(): InboxError {
  return new InboxError(
    'inbox_transaction_ended',
    'the transaction has ended: the handler has returned, or its signal has aborted; await every query',
  );
}
