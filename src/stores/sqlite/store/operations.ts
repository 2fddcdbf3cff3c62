import { storeError } from '../../../receiver/dedupe/time-limited.ts';
import { inNextTurn } from '../../../receiver/timing/next-turn.ts';
import type { ReadAnswer, ServerOperation } from '../../kit/server-store.ts';
import { BUSY, type SqliteConnection } from '../connection.ts';
import { explain } from '../errors.ts';
import type { QueuedWrite } from '../write-queue.ts';
import { type Answer, type PendingOperation, PendingOperations } from './pending-operations.ts';
import { CLEAN_UP, CLEANING_INTERVAL, statementsOf } from './statements.ts';

/** The most operations in one transaction: together they block the event loop for a few milliseconds. */
const MAX_BATCH_SIZE = 100;

/**
 * Runs operations of a store. Those of one turn of the event loop share a transaction, because each
 * transaction waits for the disk. One that was given up is never run later.
 */
export class SqliteOperations implements QueuedWrite {
  readonly #connection: SqliteConnection;
  readonly #scope: string;
  readonly limitMs: number;
  readonly #pending: PendingOperations;
  #isQueued = false;
  /** Processes that start together delete at different times. */
  #completions: number = Math.floor(Math.random() * CLEANING_INTERVAL);

  constructor(connection: SqliteConnection, scope: string, limitMs: number) {
    this.#connection = connection;
    this.#scope = scope;
    this.limitMs = limitMs;
    this.#pending = new PendingOperations(limitMs);
  }

  /** True if this process, or another one, has lately had the lock and given it back. */
  get isAtWork(): boolean {
    return performance.now() - this.#connection.writes.lastTurnAt < this.limitMs;
  }

  /** Resolves with the result of an operation, parsed by `read`; rejects with UnavailableError. */
  async run<Result>(operation: ServerOperation, read: ReadAnswer<Result>): Promise<Result> {
    try {
      const { result, waitedMs } = await this.#enqueue(operation);
      return read(result, waitedMs);
    } catch (cause) {
      throw storeError(operation.name, cause);
    }
  }

  #enqueue(operation: ServerOperation): Promise<Answer> {
    return new Promise((settle, fail) => {
      this.#pending.add({ operation, startedAt: performance.now(), settle, fail });
      if (this.#isQueued) return;
      this.#isQueued = true;
      inNextTurn(() => this.#connection.writes.add('operation', this));
    });
  }

  /** Runs the operations that have waited longest. */
  readonly attempt = (): boolean => {
    const batch = this.#pending.first(MAX_BATCH_SIZE);
    const now = performance.now();
    try {
      const results = this.#connection.write(() => this.#runAll(batch));
      if (results === BUSY) return false;
      batch.forEach(({ startedAt, settle }, index) => {
        settle({ result: results[index] ?? '', waitedMs: now - startedAt });
      });
    } catch (error) {
      const cause = explain(error);
      for (const { fail } of batch) fail(cause);
    }
    for (const pending of batch) this.#pending.delete(pending);
    return true;
  };

  readonly stillWaits = (now: number, lastTurnAt: number): boolean => {
    this.#pending.giveUpLate(now, lastTurnAt);
    this.#isQueued = this.#pending.size > 0;
    return this.#isQueued;
  };

  #runAll(batch: readonly PendingOperation[]): readonly string[] {
    const results = batch.map(({ operation }) => this.#runOne(operation));
    const completions = batch.filter(({ operation }) => operation.name === 'complete').length;
    this.#completions += completions;
    if (this.#completions >= CLEANING_INTERVAL) {
      this.#completions = 0;
      for (const statement of CLEAN_UP) this.#connection.run(statement);
    }
    return results;
  }

  #runOne(operation: ServerOperation): string {
    // Nothing of this process runs later than its caller waits, so no operation has a latest time.
    const { write, read } = statementsOf(this.#scope, operation, Number.MAX_SAFE_INTEGER);
    if (read === undefined) {
      this.#connection.run(write);
      return 'completed';
    }
    const row = this.#connection.first(write) ?? this.#connection.first(read);
    const result = String(row?.[0]);
    // A lease or a retention has ended between the two statements.
    return result === 'late' ? this.#runOne(operation) : result;
  }
}
