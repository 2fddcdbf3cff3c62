import type { ReadAnswer, ServerOperation } from '../../dedupe/server-store.ts';
import { storeError } from '../../dedupe/time-limited.ts';
import { inNextTurn } from '../../timing/isolated-requests.ts';
import { BUSY, type SqliteConnection } from '../connection.ts';
import { pauseWhileBusy } from '../retry-while-busy.ts';
import { explain, lockedError } from '../sqlite-errors.ts';
import { CLEAN_UP, CLEANING_INTERVAL, statementsOf } from './statements.ts';

/** The most operations in one transaction: together they block the event loop for a few milliseconds. */
const MAX_BATCH_SIZE = 100;

/** An operation is given up a little before its receiver does that: only here it is known why. */
const SHARE_OF_LIMIT = 0.95;

/** An operation that waits for its transaction. */
interface PendingOperation {
  readonly operation: ServerOperation;
  /** By the monotonic clock. */
  readonly endsAt: number;
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
    const endsAt = performance.now() + this.#limitMs * SHARE_OF_LIMIT;
    return new Promise((settle, fail) => {
      this.#pending.push({ operation, endsAt, settle, fail });
      if (this.#isServing) return;
      this.#isServing = true;
      inNextTurn(() => void this.#serve());
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
      if (results === BUSY) {
        this.#giveUpLate();
        return false;
      }
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

  #giveUpLate(): void {
    const now = performance.now();
    const late = this.#pending.filter(({ endsAt }) => endsAt <= now);
    this.#pending = this.#pending.filter(({ endsAt }) => endsAt > now);
    for (const { fail } of late) fail(lockedError(this.#limitMs));
  }
}
