import { EventEmitter } from 'node:events';
import type { PgPoolClient, PgQueryResult } from 'bullmq';
import { withTimeLimit } from '../../../receiver/timing/time-limit.ts';
import { lateError } from '../../../stores/postgres/errors.ts';
import type { QueueDatabase } from './database.ts';
import { isPassing } from './errors.ts';
import type { QueueClient, QueueNotification } from './pool.ts';
import { queryResultOf } from './queryable.ts';

const STATEMENT_LIMIT_MS = 10_000;

/**
 * A client for BullMQ, which checks its tables with one, and hears of new jobs with another. It is taken out
 * of the pool with its first statement, once the database is ready.
 *
 * Without the socket of the client BullMQ does not rely on notifications: a worker looks for jobs once in
 * ten seconds at least. PgBouncer in transaction mode keeps notifications back.
 */
export class QueueSession extends EventEmitter implements PgPoolClient {
  readonly #database: QueueDatabase;
  #client: QueueClient | undefined;
  readonly #onError = (error: Error): void => {
    this.#giveBack(error);
    this.#database.lose(error);
    this.emit('error', error);
  };
  readonly #onNotification = (message: QueueNotification): void => {
    this.emit('notification', message);
  };

  constructor(database: QueueDatabase) {
    super();
    this.#database = database;
  }

  async query<Row>(text: string, values?: readonly unknown[]): Promise<PgQueryResult<Row>> {
    for (;;) {
      await this.#database.ready();
      try {
        this.#client ??= await this.#acquire();
        const answer = this.#client.query(text, values === undefined ? undefined : [...values]);
        return queryResultOf(await withTimeLimit(answer, STATEMENT_LIMIT_MS, lateError));
      } catch (error) {
        if (!isPassing(error)) throw error;
        this.#giveBack(true);
        this.#database.lose(error);
      }
    }
  }

  /** BullMQ gives its clients back to be closed. */
  release(): void {
    this.#giveBack(true);
  }

  /** Listens at once: a lost connection without a listener ends the process. */
  #acquire(): Promise<QueueClient> {
    return new Promise((resolve, reject) => {
      this.#database.pool.connect((error, client) => {
        if (client === undefined) {
          reject(error);
          return;
        }
        client.on('error', this.#onError);
        client.on('notification', this.#onNotification);
        resolve(client);
      });
    });
  }

  #giveBack(error: Error | boolean): void {
    const client = this.#client;
    this.#client = undefined;
    if (client === undefined) return;
    client.release(error);
    client.removeListener('error', this.#onError);
    client.removeListener('notification', this.#onNotification);
  }
}
