import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../receiver/values/foreign-values.ts';
import type { ClientConnection } from '../../../stores/kit/readiness.ts';
import type { PostgresClient, PostgresResult } from '../../../stores/postgres/client.ts';
import { withClient } from '../../../stores/postgres/connection.ts';
import { isRefusal } from '../../../stores/postgres/errors.ts';
import { checkTables } from './check-tables.ts';
import { isAboutOneJob, isPassing } from './errors.ts';
import type { QueuePool } from './pool.ts';

/** pg itself waits for ever for a client and for an answer. */
const STATEMENT_LIMIT_MS = 10_000;
/**
 * The pauses before the looks at a database that was lost, which double. The first one also limits how often
 * a statement is tried that PostgreSQL refuses while it answers the look.
 */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;
/** The pause before a refusal is thrown: BullMQ tries again at once, and would ask without end. */
const REFUSAL_PAUSE_MS = 1_000;

/**
 * The database of a queue, which may be away, or not be migrated yet. BullMQ asks once whether its tables are
 * there, and keeps the answer, so it must not ask before they are. Later it takes a lost connection for the
 * failure of a job. Therefore its statements wait here until they have an answer.
 */
export class QueueDatabase implements ClientConnection {
  readonly pool: QueuePool;
  readonly isConnecting = true;
  absence = 'the PostgreSQL of the queue has not answered yet';
  isReady = false;
  readonly #log: (error: unknown) => void;
  readonly #listeners = new Set<() => void>();
  readonly #closing = new AbortController();
  #looking: Promise<void> | undefined;

  constructor(pool: QueuePool, log: (error: unknown) => void) {
    this.pool = pool;
    this.#log = log;
    pool.on('error', log);
    this.#look(0);
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** A job that is added again is in the queue once, so it may be sent again after a lost connection. */
  isUnsent(error: unknown): boolean {
    return !isRefusal(error);
  }

  /** Resolves once the database is ready; rejects if the queue is closed before. */
  async ready(): Promise<void> {
    while (!this.isReady) {
      this.#closing.signal.throwIfAborted();
      await this.#look();
    }
  }

  /** Runs one statement. */
  async run(text: string, values?: unknown[]): Promise<PostgresResult> {
    try {
      return await this.#ask((client) => client.query(text, values));
    } catch (error) {
      if (isPassing(error)) this.lose(error);
      throw error;
    }
  }

  /** Runs one statement, again after each lost connection. */
  async runUntilAnswered(text: string, values?: unknown[]): Promise<PostgresResult> {
    for (;;) {
      await this.ready();
      try {
        return await this.run(text, values);
      } catch (error) {
        if (isPassing(error)) continue;
        if (!isAboutOneJob(error)) await sleep(REFUSAL_PAUSE_MS);
        throw error;
      }
    }
  }

  /** Statements wait until the database has been seen again. */
  lose(error: unknown): void {
    this.absence = `the PostgreSQL of the queue is away: ${messageOf(error)}`;
    this.isReady = false;
    this.#look();
  }

  /** Ends the waiting. The pool belongs to the application. */
  close(): void {
    this.#closing.abort(new Error('the queue is closed'));
    this.pool.removeListener('error', this.#log);
  }

  #look(pauseMs = FIRST_PAUSE_MS): Promise<void> {
    this.#looking ??= this.#lookUntilReady(pauseMs).finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #lookUntilReady(firstPauseMs: number): Promise<void> {
    const { signal } = this.#closing;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs + FIRST_PAUSE_MS, LONGEST_PAUSE_MS)) {
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      try {
        await this.#ask(checkTables);
        this.isReady = true;
        for (const listener of this.#listeners) listener();
        return;
      } catch (error) {
        this.absence = `the PostgreSQL of the queue cannot be used: ${messageOf(error)}`;
        this.#log(error);
      }
    }
  }

  #ask<T>(use: (client: PostgresClient) => Promise<T>): Promise<T> {
    return withClient(this.pool, performance.now() + STATEMENT_LIMIT_MS, use);
  }
}
