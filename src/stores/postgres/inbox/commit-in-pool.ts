import { performance } from '../../../receiver/timing/process-clock.ts';
import { settledWithin } from '../../../receiver/timing/time-limit.ts';
import { messageOf } from '../../../receiver/values/foreign-values.ts';
import { endedByHandler, InboxError, swallowed } from '../../kit/inbox/inbox-error.ts';
import type { PostgresPool } from '../client.ts';
import { PostgresConnection, withClient } from '../connection.ts';
import { IN_FAILED_TRANSACTION, isRefusedCommit, lateError, sqlStateOf } from '../errors.ts';
import { HandlerTransaction, type PostgresTransaction } from './handler-transaction.ts';
import { type SchemaRecordKey, settleFailure, TransactionRecord } from './record.ts';
import type { RunTransaction } from './run.ts';
import { GRACE_MS, LATE, type RunLimits } from './time-limits.ts';

/** Runs handlers in transactions on clients of the pool, and commits them. */
export function commitInPool(pool: PostgresPool): RunTransaction<PostgresTransaction> {
  return async (run, progress, handle) => {
    const transaction = await PoolTransaction.open(pool, run.limits);
    try {
      const begin = run.statements.beginAndRecord;
      const reason = await progress.record(run, (values) => transaction.begin(begin(values)));
      if (reason === undefined) await run.limits.orAbort(handle(transaction.handOver(run, progress.xact)));
      await transaction.commit();
      return reason;
    } catch (error) {
      await transaction.rollBack(progress.xact);
      const { mayHaveEnded, hasEnded } = transaction.handlerEnd;
      throw mayHaveEnded ? await settleFailure(pool, run, { error, xact: progress.xact, hasEnded }) : error;
    }
  };
}

/** A transaction on a client of the pool, from BEGIN until the client is given back. */
class PoolTransaction {
  /** The handle that the handler gets, once the record is written. */
  #handle: HandlerTransaction | undefined;
  readonly #pool: PostgresPool;
  readonly #connection: PostgresConnection;
  readonly #limits: RunLimits;
  /** The message with BEGIN got no answer, and may still run. */
  #isUnknown = false;
  /** The inbox has sent its own COMMIT: whatever is committed now holds the whole work, and its record. */
  #isCommitSent = false;
  #isReleased = false;

  private constructor(pool: PostgresPool, connection: PostgresConnection, limits: RunLimits) {
    this.#pool = pool;
    this.#connection = connection;
    this.#limits = limits;
  }

  /** Takes a client of the pool. */
  static async open(pool: PostgresPool, limits: RunLimits): Promise<PoolTransaction> {
    const taking = PostgresConnection.acquire(pool);
    try {
      return new PoolTransaction(pool, await limits.within(taking), limits);
    } catch (error) {
      // A client that comes too late goes back at once.
      taking.then(
        (connection) => connection.release(false),
        () => {},
      );
      throw error === LATE ? new Error('the pool had no connection before the deadline') : error;
    }
  }

  /** Sends BEGIN and a statement in one message; resolves with the statement's result. */
  async begin(text: string): Promise<unknown> {
    try {
      const results: unknown = await this.#limits.within(this.#connection.query(text));
      return Array.isArray(results) ? results.at(-1) : results;
    } catch (error) {
      this.#isUnknown = sqlStateOf(error) === undefined;
      throw error;
    }
  }

  /** The transaction as the handler gets it. `xact` is the number of the transaction that has the record. */
  handOver(key: SchemaRecordKey, xact: string | undefined): HandlerTransaction {
    this.#handle = new HandlerTransaction(
      this.#connection,
      new TransactionRecord(this.#connection, key, xact),
    );
    return this.#handle;
  }

  /** Says whether the handler has ended the transaction before the inbox commits: perhaps, or certainly. */
  get handlerEnd(): { readonly mayHaveEnded: boolean; readonly hasEnded: boolean } {
    const hasEnded = this.#handle?.hasEnded === true;
    const mayHaveEnded = (hasEnded || this.#handle?.record.wasWithheld === true) && !this.#isCommitSent;
    return { mayHaveEnded, hasEnded };
  }

  /**
   * Waits for the statements that the handler did not await, and commits. Only the answer `COMMIT` counts,
   * because PostgreSQL answers `ROLLBACK`, without an error, if a statement has failed.
   */
  async commit(): Promise<void> {
    if (this.#handle !== undefined) await this.#finish(this.#handle);
    let command: string;
    this.#isCommitSent = true;
    try {
      ({ command } = await this.#limits.withGrace(this.#connection.query('commit'), lateError));
    } catch (cause) {
      const isRefused = isRefusedCommit(cause);
      this.#release(!isRefused);
      if (isRefused) throw cause;
      const message =
        `PostgreSQL did not confirm the COMMIT (${messageOf(cause)}): nobody knows whether it committed. ` +
        'The retry finds the record of it, or runs the handler';
      throw new InboxError('inbox_commit_unknown', message, { cause });
    }
    this.#release(false);
    if (command !== 'COMMIT') throw swallowed('PostgreSQL', this.#handle?.failure);
  }

  /** Gives up the handler's writes. Never rejects; a client whose state is unknown is closed. */
  async rollBack(xact: string | undefined): Promise<void> {
    if (this.#isReleased) return;
    const running = this.#handle?.stop();
    if (running !== undefined) await cancel(this.#pool, xact, running);
    if (running !== undefined || this.#isUnknown) return this.#release(true);
    const rolledBack = this.#connection.query('rollback').then(({ command }) => command === 'ROLLBACK');
    const isClean = await settledWithin(rolledBack, GRACE_MS).catch(() => false);
    this.#release(isClean !== true);
  }

  /**
   * Waits for the statements that the handler did not await, and makes sure that the record is in the
   * transaction: a handler that has swallowed an error may have rolled back, or ended the transaction.
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
      throw sqlStateOf(error) === IN_FAILED_TRANSACTION ? swallowed('PostgreSQL', handle.failure) : error;
    }
    if (!isInTransaction) throw endedByHandler();
  }

  #release(isUnknown: boolean): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#connection.release(isUnknown);
  }
}

/** Cancels what a transaction runs. Until a transaction ends, its process holds a lock of its number. */
const CANCEL = `select pg_cancel_backend(pid) from pg_locks
  where locktype = 'transactionid' and mode = 'ExclusiveLock' and granted and transactionid = $1::xid`;

const CANCEL_AGAIN_MS = 100;

/**
 * Cancels what a transaction runs, until that has ended, or the grace is over. The `cancel` of `pg` does not
 * help here: it needs the client of the query, and through PgBouncer it names another process.
 */
export async function cancel(
  pool: PostgresPool,
  xact: string | undefined,
  running: Promise<unknown>,
): Promise<void> {
  const endsAt = performance.now() + GRACE_MS;
  const hasEnded = running.then(
    () => true,
    () => true,
  );
  while (performance.now() < endsAt) {
    // A cancellation that comes before its query does nothing, so it is repeated.
    await withClient(pool, endsAt, (connection) => connection.query(CANCEL, [xact])).catch(() => {});
    if ((await settledWithin(hasEnded, CANCEL_AGAIN_MS)) === true) return;
  }
}
