import { performance } from '../../receiver/timing/process-clock.ts';
import { settledWithin, withTimeLimit } from '../../receiver/timing/time-limit.ts';
import type { PostgresClient, PostgresPool, PostgresQuery, PostgresResult } from './client.ts';
import { isRefusal, lateError, noClientError } from './errors.ts';

/** A pool with `binary: true` gives the bytes of texts. */
const TEXTS: PostgresQuery['types'] = { getTypeParser: () => String };

/**
 * A client that is out of its pool, and is listened to until it goes back: without a listener, a lost
 * connection ends the process. A PostgreSQL that shuts down can say so in the same packet that makes the
 * client ready. So the listening begins in the callback of `connect`; after a promise it is too late.
 */
export class PostgresConnection {
  readonly client: PostgresClient;
  /** The error by which the connection was lost. */
  lostBy: Error | undefined;
  readonly #onError = (error: Error): void => {
    this.lostBy ??= error;
  };

  private constructor(client: PostgresClient) {
    this.client = client;
    client.on('error', this.#onError);
  }

  /** Takes a client out of the pool, as soon as it has one. */
  static acquire(pool: PostgresPool): Promise<PostgresConnection> {
    return new Promise((resolve, reject) => {
      pool.connect((error, client) => {
        if (client === undefined) reject(error);
        else resolve(new PostgresConnection(client));
      });
    });
  }

  /**
   * Runs a statement of posthorn. Its columns must be texts, so that what it returns does not depend on the
   * parsers of the pool, and not on the client: `pg-native` has no parsers for one statement.
   */
  query(text: string, values?: unknown[]): Promise<PostgresResult> {
    return this.client.query({ text, values, types: TEXTS });
  }

  /**
   * Runs `use` with the client until `endsAt` (by the monotonic clock), and releases it. After anything but a
   * refusal its state is unknown: then the pool closes it.
   */
  async runAndRelease<T>(endsAt: number, use: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    let isUnknown = false;
    try {
      return await withTimeLimit(use(this), endsAt - performance.now(), lateError);
    } catch (error) {
      isUnknown = !isRefusal(error);
      throw error;
    } finally {
      this.release(isUnknown);
    }
  }

  /** Gives the client back to its pool, which closes it if its state is unknown, or the connection lost. */
  release(isUnknown: boolean): void {
    this.client.release(this.lostBy ?? isUnknown);
    this.client.removeListener('error', this.#onError);
  }
}

/**
 * Runs `use` with a client of the pool, and gives it back. Rejects once `endsAt` (by the monotonic clock) has
 * passed: pg itself waits for ever for a free client, for a connection, and for an answer.
 */
export async function withClient<T>(
  pool: PostgresPool,
  endsAt: number,
  use: (connection: PostgresConnection) => Promise<T>,
): Promise<T> {
  let isLate = false;
  const acquired = PostgresConnection.acquire(pool).then((connection) => {
    if (isLate) connection.release(false);
    return connection;
  });
  const connection = await settledWithin(acquired, endsAt - performance.now());
  isLate = connection === undefined;
  if (connection === undefined) throw noClientError();
  return connection.runAndRelease(endsAt, use);
}
