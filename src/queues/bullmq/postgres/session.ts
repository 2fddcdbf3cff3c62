import { EventEmitter } from 'node:events';
import type { PgPoolClient, PgQueryResult } from 'bullmq';
import { settledWithin, withTimeLimit } from '../../../receiver/timing/time-limit.ts';
import { lateError, noClientError } from '../../../stores/postgres/errors.ts';
import { type QueueDatabase, STATEMENT_LIMIT_MS } from './database.ts';
import { closedError, isPassing } from './errors.ts';
import type { QueueClient, QueueNotification } from './pool.ts';
import { queryResultOf, runQuery } from './queryable.ts';

/**
 * A client for BullMQ, which uses one to check its tables, and another to get the notifications of new jobs.
 * The client is taken out of the pool for its first statement, once the database is ready.
 *
 * BullMQ does not get the socket of the client, so it cannot turn on keep-alive, and does not rely on
 * notifications: a worker looks for jobs at least every ten seconds. That also helps if PgBouncer in
 * transaction mode holds notifications back.
 */
export class QueueSession extends EventEmitter implements PgPoolClient {
  readonly #database: QueueDatabase;
  #client: Promise<QueueClient> | undefined;
  #isEnded = false;
  readonly #onError = (error: Error): void => {
    this.#giveBack();
    this.#database.lose(error);
    // BullMQ does not listen while it checks its tables. If it listens, it opens another session.
    if (this.listenerCount('error') === 0) return;
    this.#isEnded = true;
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
      if (this.#isEnded) throw closedError();
      try {
        this.#client ??= this.#acquire();
        const client = await this.#client;
        const answer = runQuery(client, text, values);
        return queryResultOf(await withTimeLimit(answer, STATEMENT_LIMIT_MS, lateError));
      } catch (error) {
        if (!isPassing(error)) throw error;
        this.#giveBack();
        this.#database.lose(error);
      }
    }
  }

  /** Ends the session: BullMQ gives its clients back to be closed. */
  release(): void {
    this.#isEnded = true;
    this.#giveBack();
  }

  async #acquire(): Promise<QueueClient> {
    const connected = this.#connect();
    const client = await settledWithin(connected, STATEMENT_LIMIT_MS);
    if (client !== undefined) return client;
    this.#close(connected);
    throw noClientError();
  }

  /** Listens at once: a lost connection without a listener ends the process. */
  #connect(): Promise<QueueClient> {
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

  #giveBack(): void {
    if (this.#client !== undefined) this.#close(this.#client);
    this.#client = undefined;
  }

  /** The pool closes the client, because BullMQ has set its name and its notifications. */
  #close(client: Promise<QueueClient>): void {
    client.then(
      (given) => {
        given.release(true);
        given.removeListener('error', this.#onError);
        given.removeListener('notification', this.#onNotification);
      },
      () => {},
    );
  }
}
