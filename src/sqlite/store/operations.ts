import type { ReadAnswer, ServerOperation } from '../../dedupe/server-store.ts';
import { storeError } from '../../dedupe/time-limited.ts';
import { inNextTurn } from '../../timing/isolated-requests.ts';
import { withTimeLimit } from '../../timing/time-limit.ts';
import { BUSY, type SqliteConnection } from '../connection.ts';
import { pauseWhileBusy } from '../retry-while-busy.ts';
import { explain, lockedError } from '../sqlite-errors.ts';
import { CLEANING_INTERVAL, DELETE_EXPIRED, statementsOf } from './statements.ts';

/** The most operations in one transaction: together they block the event loop for a few milliseconds. */
const MAX_BATCH_SIZE = 100;

/** An operation that waits for its transaction. */
interface PendingOperation {
  readonly operation: ServerOperation;
  readonly settle: (result: string) => void;
  readonly fail: (cause: unknown) => void;
}

/**
 * Runs operations of a store. Those of one turn of the event loop share a transaction, because each
 * transaction waits for the disk. One that was given up is never run later.
 */
export class SqliteOperations {
  readonly #connection: SqliteConnection;
  readonly #scope: string;
  readonly #limitMs: number;
  #pending: PendingOperation[] = [];
  #isServing = false;
  /** Processes that start together delete at different times. */
  #completions: number = Math.floor(Math.random() * CLEANING_INTERVAL);

  constructor(connection: SqliteConnection, scope: string, limitMs: number) {
    this.#connection = connection;
    this.#scope = scope;
    this.#limitMs = limitMs;
  }

  /** Resolves with the result of an operation, parsed by `read`; rejects with UnavailableError. */
  async run<Result>(operation: ServerOperation, read: ReadAnswer<Result>): Promise<Result> {
    try {
      return read(await this.#enqueue(operation));
    } catch (cause) {
      throw storeError(operation.name, cause);
    }
  }

  #enqueue(operation: ServerOperation): Promise<string> {
    const result = new Promise<string>((settle, fail) => {
      this.#pending.push({ operation, settle, fail });
    });
    if (!this.#isServing) {
      this.#isServing = true;
      inNextTurn(() => void this.#serve());
    }
    return withTimeLimit(result, this.#limitMs, () => {
      this.#pending = this.#pending.filter((pending) => pending.operation !== operation);
      return lockedError(this.#limitMs);
    });
  }

  /** Runs the operations that wait, and those that come meanwhile. */
  async #serve(): Promise<void> {
    for (let tries = 1; this.#pending.length > 0; tries += 1) {
      if (this.#runBatch()) {
        tries = 0;
        if (this.#pending.length > 0) await new Promise<void>(inNextTurn);
      } else await pauseWhileBusy(tries);
    }
    this.#isServing = false;
  }

  /** Runs the operations that have waited longest; returns false if another connection has the lock. */
  #runBatch(): boolean {
    const batch = this.#pending.slice(0, MAX_BATCH_SIZE);
    try {
      const results = this.#connection.write(() => this.#runAll(batch));
      if (results === BUSY) return false;
      batch.forEach(({ settle }, index) => {
        settle(results[index] ?? '');
      });
    } catch (error) {
      const cause = explain(error);
      for (const { fail } of batch) fail(cause);
    }
    this.#pending = this.#pending.slice(batch.length);
    return true;
  }

  #runAll(batch: readonly PendingOperation[]): readonly string[] {
    const results = batch.map(({ operation }) => this.#runOne(operation));
    const completions = batch.filter(({ operation }) => operation.name === 'complete').length;
    this.#completions += completions;
    if (this.#completions >= CLEANING_INTERVAL) {
      this.#completions = 0;
      this.#connection.run(DELETE_EXPIRED);
    }
    return results;
  }

  #runOne(operation: ServerOperation): string {
    // Nothing of this process runs later than its caller waits, so no operation is late.
    const { write, read } = statementsOf(this.#scope, operation, Number.MAX_SAFE_INTEGER);
    const row = this.#connection.first(write) ?? (read && this.#connection.first(read));
    return String(row?.[0]);
  }
}
