import { messageOf } from '../../foreign-values.ts';
import { settledWithin } from '../../timing/time-limit.ts';
import type { PostgresPool } from '../client.ts';
import { LentClient } from '../lent-client.ts';
import { withClient } from '../with-client.ts';
import { endedByHandler } from './ended-by-handler.ts';
import { HandlerTransaction } from './handler-statements.ts';
import { IN_FAILED_TRANSACTION, InboxError, isRefusedCommit, sqlStateOf } from './inbox-error.ts';
import { type RecordKey, TransactionRecord } from './record.ts';
import { CANCEL } from './statements.ts';
import { GRACE_MS, LATE, type RunLimits } from './time-limits.ts';

/** A transaction on a client of the pool, from BEGIN until the client is given back. */
export class PoolTransaction {
  /** What the handler gets, once the record is written. */
  #handle: HandlerTransaction | undefined;
  readonly #pool: PostgresPool;
  readonly #lent: LentClient;
  readonly #limits: RunLimits;
  /** A statement got no answer, or it may still come. */
  #isUnknown = false;
  /** The inbox has sent its own COMMIT: whatever is committed now holds the whole work, and its record. */
  #isCommitSent = false;
  #isGivenBack = false;

  private constructor(pool: PostgresPool, lent: LentClient, limits: RunLimits) {
    this.#pool = pool;
    this.#lent = lent;
    this.#limits = limits;
  }

  /** Takes a client, on which {@link begin} begins. */
  static async open(pool: PostgresPool, limits: RunLimits): Promise<PoolTransaction> {
    const taking = LentClient.takeFrom(pool);
    try {
      return new PoolTransaction(pool, await limits.within(taking), limits);
    } catch (error) {
      // A client that comes too late goes back at once.
      taking.then(
        (lent) => lent.giveBack(false),
        () => {},
      );
      throw error === LATE ? new Error('the pool had no connection before the deadline') : error;
    }
  }

  /** Runs BEGIN and another statement, in one message; resolves with what that gave. */
  async begin(text: string): Promise<unknown> {
    try {
      const results: unknown = await this.#limits.within(this.#lent.client.query(text));
      return Array.isArray(results) ? results.at(-1) : results;
    } catch (error) {
      this.#isUnknown = sqlStateOf(error) === undefined;
      throw error;
    }
  }

  /** The transaction as a handler gets it. `xact` is the number of the transaction that has the record. */
  handOver(key: RecordKey, xact: unknown): HandlerTransaction {
    this.#handle = new HandlerTransaction(this.#lent, new TransactionRecord(this.#lent.client, key, xact));
    return this.#handle;
  }

  /** Whether the handler may have ended the transaction, and is known to have. */
  get doubt(): { readonly mayHaveEnded: boolean; readonly hasEnded: boolean } {
    const mayHaveEnded = this.#handle?.record.wasWithheld === true && !this.#isCommitSent;
    return { mayHaveEnded, hasEnded: this.#handle?.hasEnded === true };
  }

  /**
   * Commits, after the statements that the handler did not await. Only the answer `COMMIT` counts, because
   * PostgreSQL answers `ROLLBACK`, without an error, where a statement has failed.
   */
  async commit(): Promise<void> {
    if (this.#handle !== undefined) await this.#finish(this.#handle);
    let command: string;
    this.#isCommitSent = true;
    try {
      ({ command } = await this.#limits.withGrace(this.#lent.client.query('commit'), late));
    } catch (cause) {
      const isRefused = isRefusedCommit(cause);
      this.#giveBack(!isRefused);
      if (isRefused) throw cause;
      const message =
        `PostgreSQL did not confirm the COMMIT (${messageOf(cause)}): nobody knows whether it committed. ` +
        'The retry finds the record of it, or runs the handler';
      throw new InboxError('inbox_commit_unknown', message, { cause });
    }
    this.#giveBack(false);
    if (command !== 'COMMIT') throw swallowed(this.#handle?.failure);
  }

  /** Gives up what was written. Never rejects; a client whose state is unknown is closed. */
  async rollBack(xact: unknown): Promise<void> {
    if (this.#isGivenBack) return;
    const running = this.#handle?.stop();
    if (running !== undefined) await cancel(this.#pool, xact, running);
    if (running !== undefined || this.#isUnknown) return this.#giveBack(true);
    const rolledBack = this.#lent.client.query('rollback').then(({ command }) => command === 'ROLLBACK');
    const isClean = await settledWithin(rolledBack, GRACE_MS).catch(() => false);
    this.#giveBack(isClean !== true);
  }

  /**
   * Waits for the statements that the handler did not await, and sees to it that its transaction has the
   * record. A handler that has swallowed an error may have rolled back to a savepoint, or ended it.
   */
  async #finish(handle: HandlerTransaction): Promise<void> {
    const running = handle.finish();
    if (running !== undefined) await this.#limits.orAbort(running);
    handle.checkAlive();
    if (!handle.isInDoubt && !handle.record.wasWithheld) return;
    let isInTransaction: boolean;
    try {
      isInTransaction = await this.#limits.orAbort(handle.record.restore());
    } catch (error) {
      throw sqlStateOf(error) === IN_FAILED_TRANSACTION ? swallowed(handle.failure) : error;
    }
    if (!isInTransaction) throw endedByHandler();
  }

  #giveBack(isUnknown: boolean): void {
    if (this.#isGivenBack) return;
    this.#isGivenBack = true;
    this.#lent.giveBack(isUnknown);
  }
}

/**
 * Cancels what a transaction runs, until that has ended, or the grace is over. Not by `cancel` of `pg`: that
 * needs the query's own client, and names the process, which behind PgBouncer is another one.
 */
export async function cancel(pool: PostgresPool, xact: unknown, running: Promise<unknown>): Promise<void> {
  const endsAt = performance.now() + GRACE_MS;
  const hasEnded = running.then(
    () => true,
    () => true,
  );
  while (performance.now() < endsAt) {
    // A cancellation that comes before its query does nothing: hence again and again.
    await withClient(pool, endsAt, (client) => client.query(CANCEL, [xact])).catch(() => {});
    if ((await settledWithin(hasEnded, CANCEL_AGAIN_MS)) === true) return;
  }
}

const CANCEL_AGAIN_MS = 100;

/** The handler went on after an SQL error, in a transaction that could only be rolled back. */
export function swallowed(cause: unknown): InboxError {
  return new InboxError(
    'inbox_rolled_back',
    `an SQL error was swallowed, and PostgreSQL has rolled back: ${messageOf(cause)}. ` +
      'Let the error out of the handler, or use a SAVEPOINT',
    { cause },
  );
}

function late(): Error {
  return new Error('PostgreSQL did not answer in time');
}
