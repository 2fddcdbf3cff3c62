import { inNextTurn } from '../../../receiver/timing/next-turn.ts';
import { performance } from '../../../receiver/timing/process-clock.ts';
import { limitOfServer } from '../../kit/durations.ts';
import { PendingOperation, PendingOperations } from '../../kit/pending-operations.ts';
import type { ServerAnswer, ServerOperation } from '../../kit/server-store.ts';
import { BUSY, type SqliteConnection } from '../connection.ts';
import { explain, lockedError, turnError } from '../errors.ts';
import type { QueuedWrite } from '../write-queue.ts';
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
  readonly #pending = new PendingOperations<PendingOperation>();
  #isQueued = false;
  /** Processes that start together delete at different times. */
  #completions: number = Math.floor(Math.random() * CLEANING_INTERVAL);

  constructor(connection: SqliteConnection, scope: string, limitMs: number) {
    this.#connection = connection;
    this.#scope = scope;
    this.limitMs = limitMs;
  }

  /** True if this process, or another one, has lately had the lock and given it back. */
  get isAtWork(): boolean {
    return performance.now() - this.#connection.writes.lastTurnAt < this.limitMs;
  }

  /** Resolves with the answer to an operation. */
  run(operation: ServerOperation): Promise<ServerAnswer> {
    if (operation.name === 'release') this.#pending.dropClaims(operation, 'it was given up before its turn');
    const pending = new PendingOperation(operation);
    this.#pending.add(pending);
    if (!this.#isQueued) inNextTurn(() => this.#connection.writes.add('operation', this));
    this.#isQueued = true;
    return pending.answer;
  }

  /** Runs the operations that have waited longest. */
  readonly attempt = (): boolean => {
    const batch = [...this.#pending].slice(0, MAX_BATCH_SIZE);
    const now = performance.now();
    for (const pending of batch) pending.sentAt = now;
    try {
      const results = this.#connection.write(() => this.#runAll(batch));
      if (results === BUSY) return false;
      batch.forEach((pending, index) => {
        pending.settle(results[index] ?? '');
      });
    } catch (error) {
      const cause = explain(error);
      for (const pending of batch) pending.fail(cause);
    }
    for (const pending of batch) this.#pending.delete(pending);
    return true;
  };

  readonly stillWaits = (now: number, lastTurnAt: number): boolean => {
    for (const pending of [...this.#pending]) {
      const error = this.#lateError(pending, now, lastTurnAt);
      if (error === undefined) continue;
      this.#pending.delete(pending);
      pending.fail(error);
    }
    this.#isQueued = this.#pending.size > 0;
    return this.#isQueued;
  };

  /**
   * A claim cannot have taken its id before it runs, so it may wait for as long as its caller says, while
   * this process or others write to the file: then nobody keeps the lock for long.
   */
  #lateError(
    { operation, waitingSince }: PendingOperation,
    now: number,
    lastTurnAt: number,
  ): Error | undefined {
    const limitMs = limitOfServer(this.limitMs);
    const { name, waitMs = 0 } = operation;
    if (name !== 'claim' || waitMs <= limitMs)
      return now - waitingSince >= limitMs ? lockedError(this.limitMs) : undefined;
    if (now - Math.max(waitingSince, lastTurnAt) >= limitMs) return lockedError(this.limitMs);
    return now - waitingSince >= waitMs ? turnError(waitMs) : undefined;
  }

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
    const { write, read, refusal } = statementsOf(this.#scope, operation, Number.MAX_SAFE_INTEGER);
    if (refusal !== undefined) this.#connection.run(refusal);
    if (read === undefined) {
      if (write !== undefined) this.#connection.run(write);
      return 'completed';
    }
    const written = write === undefined ? undefined : this.#connection.first(write);
    const result = String((written ?? this.#connection.first(read))?.[0]);
    // A lease or a retention has ended between the two statements.
    return result === 'late' ? this.#runOne(operation) : result;
  }
}
