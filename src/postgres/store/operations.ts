import type { ServerOperation } from '../../dedupe/server-store.ts';
import { storeError } from '../../dedupe/time-limited.ts';
import { show } from '../../foreign-values.ts';
import { inNextTurn } from '../../timing/isolated-requests.ts';
import { ServerClock } from '../../timing/server-clock.ts';
import { withTimeLimit } from '../../timing/time-limit.ts';
import type { PostgresClient, PostgresPool } from '../client.ts';
import { DURABLE_COMMIT } from '../durable-commit.ts';
import { connectUntil, type LentClient, lateError, noClientError } from '../lent-client.ts';
import { explain, isConflict, isRefusal } from '../sql-errors.ts';
import { Cleaning } from './delete-expired.ts';

/** Where the operations run, and how long each may take. */
export interface OperationSettings {
  readonly scope: string;
  /** Quoted. */
  readonly schema: string;
  readonly limitMs: number;
}

/** An operation, and the promise of its result. */
interface PendingOperation {
  readonly operation: ServerOperation;
  readonly endsAt: number;
  readonly settle: (result: string) => void;
  readonly fail: (error: unknown) => void;
  /** The pool has had a client for it. */
  wasSent: boolean;
  /** How often PostgreSQL has refused it, or the statement that it shared. */
  refusals: number;
  /** PostgreSQL has refused it as late. */
  wasLate: boolean;
}

/** The most operations in one statement: the locks of one are held until the last has run. */
const MAX_BATCH_SIZE = 16;

/** The most clients of the pool that the store waits for at once. */
const MAX_CONNECTING = 4;

/** How often an operation is tried again that PostgreSQL refuses for the sake of another transaction. */
const MAX_REFUSALS = 4;

/** A thousand years. The times of PostgreSQL end at some point. */
const LONGEST_MS = 31_556_952_000_000;

/**
 * Runs operations of a store, each under a time limit. Those that wait for a client at the same time share a
 * statement: it costs this process and the server far more than an operation does.
 */
export class PostgresOperations {
  readonly #pool: PostgresPool;
  readonly #settings: OperationSettings;
  readonly #cleaning: Cleaning;
  readonly #clock: ServerClock;
  readonly #waiting = new Set<PendingOperation>();
  #connecting = 0;

  constructor(pool: PostgresPool, settings: OperationSettings) {
    this.#pool = pool;
    this.#settings = settings;
    this.#clock = new ServerClock(settings.limitMs);
    this.#cleaning = new Cleaning(pool, settings.schema, settings.limitMs);
  }

  /** Resolves with the result of an operation, parsed by `read`; rejects with UnavailableError. */
  async run<Result>(operation: ServerOperation, read: (result: string) => Result): Promise<Result> {
    const { limitMs } = this.#settings;
    const endsAt = performance.now() + limitMs;
    let wasSent = (): boolean => false;
    const result = new Promise<string>((settle, fail) => {
      const pending = { operation, endsAt, settle, fail, wasSent: false, refusals: 0, wasLate: false };
      wasSent = () => pending.wasSent;
      this.#enqueue(pending);
    });
    try {
      return read(await withTimeLimit(result, limitMs, () => this.#giveUp(wasSent())));
    } catch (cause) {
      throw storeError(operation.name, cause);
    }
  }

  /** What its caller has given up need not wait in memory for a server that may be away for hours. */
  #giveUp(wasSent: boolean): Error {
    for (const pending of this.#waiting) {
      if (pending.endsAt > performance.now()) break;
      this.#waiting.delete(pending);
    }
    return wasSent ? lateError() : noClientError();
  }

  #enqueue(pending: PendingOperation): void {
    this.#waiting.add(pending);
    if (this.#waiting.size === 1) inNextTurn(() => this.#connect());
  }

  /** Asks for as many clients as the waiting operations need. */
  #connect(): void {
    while (this.#connecting < Math.min(MAX_CONNECTING, this.#waiting.size / MAX_BATCH_SIZE)) {
      this.#connecting += 1;
      void this.#serve();
    }
  }

  async #serve(): Promise<void> {
    let lent: LentClient | undefined;
    try {
      lent = await connectUntil(this.#pool, performance.now() + this.#settings.limitMs);
    } catch (error) {
      for (const pending of this.#takeBatch()) pending.fail(error);
    } finally {
      this.#connecting -= 1;
    }
    if (lent !== undefined) await this.#send(lent);
    this.#connect();
  }

  /** Sends the operations that have waited longest, while further clients may serve the others. */
  async #send(lent: LentClient): Promise<void> {
    const batch = this.#takeBatch();
    this.#connect();
    if (batch.length === 0) {
      lent.giveBack(false);
      return;
    }
    const endsAt = Math.max(...batch.map((pending) => pending.endsAt));
    try {
      const [now, ...results] = await lent.lend(endsAt, (client) => this.#query(client, batch));
      this.#clock.set(Number(now));
      batch.forEach((pending, index) => {
        this.#settle(pending, results[index] ?? '');
      });
      this.#cleaning.cleanIfDue();
    } catch (error) {
      for (const pending of batch) this.#refuse(pending, error, batch.length > 1);
    }
  }

  /** Takes operations in the order of their keys: two statements that lock the same rows cannot deadlock. */
  #takeBatch(): readonly PendingOperation[] {
    const batch: PendingOperation[] = [];
    for (const pending of this.#waiting) {
      // One that was refused must not fail others again.
      const goesAlone = pending.refusals > 0;
      if (goesAlone && batch.length > 0) break;
      this.#waiting.delete(pending);
      if (pending.endsAt <= performance.now()) continue;
      pending.wasSent = true;
      batch.push(pending);
      if (goesAlone || batch.length === MAX_BATCH_SIZE) break;
    }
    return batch.sort((one, other) => compare(one.operation.key, other.operation.key));
  }

  /** Resolves with the server's time in milliseconds and the result of each operation. */
  async #query(client: PostgresClient, batch: readonly PendingOperation[]): Promise<readonly string[]> {
    const { schema, scope, limitMs } = this.#settings;
    const operations = batch.map(({ operation }) => operation);
    // A completion is what later duplicates are answered 200 for; a claim that a crash forgets is made again.
    const durable = operations.some(({ name }) => name === 'complete') ? `, ${DURABLE_COMMIT}` : '';
    const { rows } = await client.query(
      `select ${schema}.operate($1, $2, $3, $4, $5, $6, $7, $8, $9) as results${durable}`,
      [
        // A row that somebody else has locked must not hold up other operations for long.
        Math.ceil(limitMs / MAX_REFUSALS),
        scope,
        batch.map(({ endsAt }) => this.#clock.latest(endsAt)),
        operations.map(({ name }) => name),
        operations.map(({ key }) => key),
        operations.map(({ token }) => token),
        operations.map(({ leaseMs }) => leaseMs),
        operations.map(({ keepMs }) => Math.min(keepMs, LONGEST_MS)),
        operations.map(({ detail }) => detail),
      ],
    );
    const results = rows[0]?.results;
    if (typeof results !== 'string') throw new Error(`PostgreSQL gave an unknown result: ${show(results)}`);
    return results.split('\n');
  }

  /**
   * The server refuses a claim as late, although it is not, if its clock has jumped or another server has
   * taken over. Its answer brought the new time, so the second try is right.
   */
  #settle(pending: PendingOperation, result: string): void {
    if (result !== 'late') pending.settle(result);
    else if (pending.wasLate) pending.fail(lateError());
    else {
      pending.wasLate = true;
      this.#enqueue(pending);
    }
  }

  #refuse(pending: PendingOperation, error: unknown, isShared: boolean): void {
    pending.refusals += 1;
    const mayPass = isRefusal(error) && (isShared || isConflict(error)) && pending.refusals <= MAX_REFUSALS;
    if (mayPass) this.#enqueue(pending);
    else pending.fail(explain(this.#settings.schema, error));
  }
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
