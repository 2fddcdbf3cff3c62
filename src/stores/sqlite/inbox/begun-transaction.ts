import { randomUUID } from 'node:crypto';
import { messageOf } from '../../../receiver/values/foreign-values.ts';
import { committedByHandler, endedByHandler, InboxError } from '../../kit/inbox/inbox-error.ts';
import type { SqliteConnection } from '../connection.ts';
import { findMark, mark } from './statements.ts';

/**
 * The transaction that the inbox has begun for a handler. SQLite itself shows whether it is still that one:
 * it holds a savepoint whose name nobody can guess, which ends with it. A mark in a temporary table shows how
 * it has ended: a rollback takes the mark away, and a commit leaves it.
 */
export class BegunTransaction {
  readonly #connection: SqliteConnection;
  readonly #name = randomUUID();

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    connection.run(mark(this.#name));
    connection.exec(`savepoint "${this.#name}"`);
  }

  /** Throws if no transaction is open any more: then each statement would be committed by itself. */
  checkOpen(failure: unknown): void {
    if (!this.#connection.isInTransaction()) throw this.#endedEarly(failure);
  }

  /** Throws unless the transaction is still the one that was begun. It can be asked once. */
  release(failure: unknown): void {
    const refusal = this.#tryRelease();
    if (isMissing(refusal)) throw this.#endedEarly(failure);
    if (refusal !== undefined) throw refusal;
  }

  /** The failure of a handler that has thrown this: permanent if the handler has committed its writes. */
  failureOf(thrown: unknown): unknown {
    return isMissing(this.#tryRelease()) && this.#isMarked() ? committedByHandler(thrown) : thrown;
  }

  #tryRelease(): unknown {
    try {
      this.#connection.exec(`release "${this.#name}"`);
      return undefined;
    } catch (error) {
      return error;
    }
  }

  #isMarked(): boolean {
    return this.#connection.first(findMark(this.#name)) !== undefined;
  }

  #endedEarly(failure: unknown): InboxError {
    return this.#isMarked() ? endedByHandler(failure) : rolledBack(failure);
  }
}

function isMissing(refusal: unknown): boolean {
  return refusal !== undefined && messageOf(refusal).includes('no such savepoint');
}

function rolledBack(cause: unknown): InboxError {
  return new InboxError(
    'inbox_rolled_back',
    'the transaction of the handler was rolled back before its end, by SQLite after an error or by a statement of ' +
      'the handler: let the error out of the handler, and leave ROLLBACK to the inbox',
    { cause },
  );
}
