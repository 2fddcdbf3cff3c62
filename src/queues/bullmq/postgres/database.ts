import { setMaxListeners } from 'node:events';
import { clearTimeout, performance, setTimeout } from '../../../receiver/timing/process-clock.ts';
import { messageOf } from '../../../receiver/values/foreign-values.ts';
import type { ClientConnection } from '../../../stores/kit/readiness.ts';
import type { PostgresResult } from '../../../stores/postgres/client.ts';
import { type PostgresConnection, withClient } from '../../../stores/postgres/connection.ts';
import { isRefusal } from '../../../stores/postgres/errors.ts';
import { LateStatementError } from '../late-statement-error.ts';
import { checkTables } from './check-tables.ts';
import { closedError, isAboutOneJob, isPassing } from './errors.ts';
import type { QueuePool } from './pool.ts';
import { runQuery } from './queryable.ts';

/** The time limit of a statement: pg itself waits forever for a client and for an answer. */
export const STATEMENT_LIMIT_MS = 10_000;
/**
 * The pauses between checks of a lost database; they double. The first one also limits how often a statement
 * is repeated if PostgreSQL refuses it, but passes the check.
 */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;
/** The pause before a refusal is thrown, because BullMQ repeats the statement at once, without end. */
const REFUSAL_PAUSE_MS = 1_000;

/** The statements that keep a lock, and that write the notes of a job while its lock is held. */
const ABOUT_A_LOCK = /\b(extend_locks?|update_progress)\(/;
/**
 * Half the time of a lock. Later, another worker may have the job, and the times in the statement are old.
 */
const LOCK_LIMIT_MS = 15_000;

/**
 * The database of a queue, which may be down, or not be migrated yet. BullMQ checks only once whether its
 * tables are there, so it must not check too early. Its workers would count a lost connection as a failed
 * job, so the statements of a worker wait here until they have an answer.
 */
export class QueueDatabase implements ClientConnection {
  readonly pool: QueuePool;
  readonly isConnecting = true;
  absenceMessage = 'the PostgreSQL of the queue has not answered yet';
  isReady = false;
  readonly #log: (error: unknown) => void;
  readonly #listeners = new Set<() => void>();
  readonly #closing = new AbortController();
  #checking: Promise<void> | undefined;

  constructor(pool: QueuePool, log: (error: unknown) => void) {
    this.pool = pool;
    this.#log = log;
    // Each waiting statement listens to this signal, and Node.js warns of more than ten listeners.
    setMaxListeners(0, this.#closing.signal);
    pool.on('error', log);
    this.#check(0);
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** After a lost connection a job may be sent again: added twice, it is in the queue once. */
  maySendAgain(error: unknown): boolean {
    return !isRefusal(error);
  }

  /** Resolves once the database is ready; rejects if the queue is closed before. */
  async ready(): Promise<void> {
    while (!this.isReady) {
      this.#closing.signal.throwIfAborted();
      await this.#check();
    }
  }

  /** Runs a statement once. */
  async run(text: string, values?: readonly unknown[]): Promise<PostgresResult> {
    try {
      return await this.#ask(({ client }) => runQuery(client, text, values));
    } catch (error) {
      if (isPassing(error)) this.lose(error);
      throw error;
    }
  }

  /** Runs a statement, and repeats it after each failure that passes. */
  async runUntilAnswered(text: string, values?: readonly unknown[]): Promise<PostgresResult> {
    const endsAt = ABOUT_A_LOCK.test(text) ? performance.now() + LOCK_LIMIT_MS : Number.POSITIVE_INFINITY;
    for (;;) {
      await this.ready();
      if (performance.now() > endsAt) throw new LateStatementError();
      try {
        return await this.run(text, values);
      } catch (error) {
        if (isPassing(error)) continue;
        if (!isAboutOneJob(error)) await this.#pause(REFUSAL_PAUSE_MS);
        throw error;
      }
    }
  }

  /** Notes that the database is lost: statements wait until it has passed a check. */
  lose(error: unknown): void {
    this.absenceMessage = `the PostgreSQL of the queue is away: ${messageOf(error)}`;
    this.isReady = false;
    if (!this.#closing.signal.aborted) this.#log(error);
    this.#check();
  }

  /** Ends the waiting. The pool stays open, because it belongs to the application. */
  close(): void {
    this.#closing.abort(closedError());
    this.pool.removeListener('error', this.#log);
  }

  #check(pauseMs = FIRST_PAUSE_MS): Promise<void> {
    this.#checking ??= this.#checkUntilReady(pauseMs).finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #checkUntilReady(firstPauseMs: number): Promise<void> {
    const { signal } = this.#closing;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs + FIRST_PAUSE_MS, LONGEST_PAUSE_MS)) {
      await this.#pause(pauseMs);
      if (signal.aborted) return;
      try {
        await this.#ask(checkTables);
        this.isReady = true;
        for (const listener of this.#listeners) listener();
        return;
      } catch (error) {
        this.absenceMessage = `the PostgreSQL of the queue cannot be used: ${messageOf(error)}`;
        this.#log(error);
      }
    }
  }

  /** Waits, but not longer than until the queue is closed. */
  #pause(ms: number): Promise<void> {
    const { signal } = this.#closing;
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      signal.addEventListener('abort', end);
    });
  }

  #ask<T>(use: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    return withClient(this.pool, performance.now() + STATEMENT_LIMIT_MS, use);
  }
}
