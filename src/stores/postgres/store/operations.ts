import { inNextTurn } from '../../../receiver/timing/next-turn.ts';
import { performance } from '../../../receiver/timing/process-clock.ts';
import { withTimeLimit } from '../../../receiver/timing/time-limit.ts';
import { Timer } from '../../../receiver/timing/timer.ts';
import type { Cleaning } from '../../kit/cleaning.ts';
import { wholeMs } from '../../kit/durations.ts';
import { ServerClock } from '../../kit/server-clock.ts';
import { type ServerAnswer, type ServerOperation, termsOf } from '../../kit/server-store.ts';
import { CLEANING_BATCH, createCleaning } from '../cleaning.ts';
import { columnOf, type PostgresPool } from '../client.ts';
import { PostgresConnection } from '../connection.ts';
import { DURABLE_COMMIT } from '../durable-commit.ts';
import { explain, isRefusal, isTemporary, lateError, noClientError } from '../errors.ts';
import { PooledOperation, PooledOperations } from './pooled-operations.ts';

/** The place in which the operations run, and the time limit of each. */
export interface OperationSettings {
  readonly scope: string;
  /** The schema of the tables, as a quoted identifier. */
  readonly schema: string;
  readonly limitMs: number;
}

/** The most operations in one statement: the locks of one are held until the last has run. */
const MAX_BATCH_SIZE = 16;

/** The most clients that the store asks the pool for at once. */
const MAX_CONNECTING = 4;

/** The most further tries of an operation that PostgreSQL refuses because of another transaction. */
const MAX_REFUSALS = 4;

/**
 * Runs operations of a store, each under a time limit. Those that wait for a client at the same time share a
 * statement: it costs this process and the server far more than an operation does.
 */
export class PostgresOperations {
  readonly #pool: PostgresPool;
  readonly #settings: OperationSettings;
  readonly #cleaning: Cleaning;
  readonly #clock: ServerClock;
  readonly #pending = new PooledOperations();
  #connecting = 0;

  constructor(pool: PostgresPool, settings: OperationSettings) {
    this.#pool = pool;
    this.#settings = settings;
    this.#clock = new ServerClock(settings.limitMs);
    const { schema, limitMs } = settings;
    // Of several processes one cleans at a time.
    const statement = `select ${schema}.clean($1)::text as deleted`;
    this.#cleaning = createCleaning(pool, {
      schema,
      limitMs,
      statement,
      values: [CLEANING_BATCH],
      rows: 'expired ids',
    });
  }

  /** Resolves with the answer to an operation. If no claim of a token was sent, nothing is to be released. */
  run(operation: ServerOperation): Promise<ServerAnswer> {
    const { name } = operation;
    const isLater = name === 'renew' || name === 'complete' || name === 'release';
    const wasDropped = isLater && this.#pending.dropClaims(operation, 'it was given up before it was sent');
    if (name !== 'release') return this.#run(operation);
    const wasSent = this.#pending.takeUnanswered(operation);
    return wasDropped && !wasSent ? Promise.resolve({ text: 'lost' }) : this.#run(operation);
  }

  #run(operation: ServerOperation): Promise<ServerAnswer> {
    const { limitMs } = this.#settings;
    const pending = new PooledOperation(operation, limitMs);
    this.#enqueue(pending);
    return withTimeLimit(pending.answer, limitMs, () => this.#timeLeft(pending));
  }

  /**
   * Returns the time until the next look at an operation, or the reason why it is given up. A claim may be
   * sent at any moment, and its time limit counts from then.
   */
  #timeLeft(pending: PooledOperation): number | Error {
    const leftMs = pending.endsAt - performance.now();
    if (leftMs > 0) return Math.min(leftMs, this.#settings.limitMs);
    // It need not wait in memory for a server that may be away for hours.
    this.#pending.delete(pending);
    return pending.sentAt === undefined ? noClientError() : lateError();
  }

  #enqueue(pending: PooledOperation): void {
    this.#pending.add(pending);
    if (this.#pending.size === 1) inNextTurn(() => this.#connect());
  }

  /** Asks for as many clients as the waiting operations need. */
  #connect(): void {
    while (this.#connecting < Math.min(MAX_CONNECTING, this.#pending.size / MAX_BATCH_SIZE)) {
      this.#connecting += 1;
      void this.#serve();
    }
  }

  /**
   * Waits for a client, and sends a batch. After the time limit further clients are asked for, because the
   * first connection may have hung; but the client keeps its place in the queue of the pool.
   */
  async #serve(): Promise<void> {
    let isLate = false;
    const timer = new Timer(performance.now() + this.#settings.limitMs, () => {
      isLate = true;
      this.#connecting -= 1;
      this.#connect();
    });
    let connection: PostgresConnection | undefined;
    try {
      connection = await PostgresConnection.acquire(this.#pool);
    } catch (error) {
      // An error that comes after long says nothing of the operations that wait by then.
      if (!isLate) this.#failBatch(error);
    } finally {
      timer.clear();
      if (!isLate) this.#connecting -= 1;
    }
    if (connection !== undefined) await this.#send(connection);
    this.#connect();
  }

  #failBatch(error: unknown): void {
    for (const pending of this.#pending.takeBatch(MAX_BATCH_SIZE)) {
      this.#pending.noteAnswered(pending);
      pending.fail(error);
    }
  }

  /** Sends the operations that have waited longest, while further clients may serve the others. */
  async #send(connection: PostgresConnection): Promise<void> {
    const batch = this.#pending.takeBatch(MAX_BATCH_SIZE);
    this.#connect();
    if (batch.length === 0) {
      connection.release(false);
      return;
    }
    const endsAt = Math.max(...batch.map((pending) => pending.endsAt));
    try {
      const [now, ...results] = await connection.runAndRelease(endsAt, () => this.#query(connection, batch));
      this.#clock.set(Number(now));
      batch.forEach((pending, index) => {
        this.#settle(pending, results[index] ?? '');
      });
      this.#cleaning.cleanIfDue();
    } catch (error) {
      for (const pending of batch) this.#refuse(pending, error, batch.length > 1);
    }
  }

  /** Resolves with the server's time in milliseconds and the result of each operation. */
  async #query(
    connection: PostgresConnection,
    batch: readonly PooledOperation[],
  ): Promise<readonly string[]> {
    const { schema, scope, limitMs } = this.#settings;
    const operations = batch.map(({ operation }) => operation);
    const terms = operations.map(termsOf);
    // A completion is what later duplicates are answered 200 for; a claim that a crash forgets is made again.
    const durable = operations.some(({ name }) => name === 'complete') ? `, ${DURABLE_COMMIT}` : '';
    const answer = await connection.query(
      `select ${schema}.operate($1, $2, $3, $4, $5, $6, $7, $8, $9) as results${durable}`,
      [
        // A row that somebody else has locked must not hold up other operations for long.
        Math.ceil(limitMs / MAX_REFUSALS),
        scope,
        batch.map(({ endsAt }) => this.#clock.lateAfter(endsAt)),
        operations.map(({ name }) => name),
        operations.map(({ key }) => key),
        operations.map(({ token }) => token),
        terms.map(({ ms }) => wholeMs(ms)),
        operations.map(({ keepMs }) => wholeMs(keepMs)),
        terms.map(({ detail }) => detail),
      ],
    );
    const results = columnOf(answer, 'results');
    if (results === undefined) throw new Error('PostgreSQL gave no results');
    return results.split('\n');
  }

  /**
   * The server refuses a claim as late, although it is not, if its clock has jumped or another server has
   * taken over. Its answer brought the new time, so the second try is right.
   */
  #settle(pending: PooledOperation, result: string): void {
    this.#pending.noteAnswered(pending);
    // Tables before version 3 take a peek for the release of a token that has no id: a completed one differs.
    const isUnknown = result === 'lost' && pending.operation.name === 'peek';
    if (result !== 'late') pending.settle(isUnknown ? 'unknown' : result);
    else if (pending.wasLate) pending.fail(lateError());
    else {
      pending.wasLate = true;
      this.#enqueue(pending);
    }
  }

  #refuse(pending: PooledOperation, error: unknown, isShared: boolean): void {
    if (isRefusal(error)) this.#pending.noteAnswered(pending);
    pending.refusals += 1;
    const isTriedAgain = isRefusal(error) && (isShared || isTemporary(error));
    if (isTriedAgain && pending.refusals <= MAX_REFUSALS) this.#enqueue(pending);
    else pending.fail(explain(this.#settings.schema, error));
  }
}
