import { settledWithin, withTimeLimit } from '../../receiver/timing/time-limit.ts';
import type { PostgresClient, PostgresPool } from './client.ts';
import { isRefusal } from './errors.ts';

/**
 * A client that is out of its pool, and is listened to until it goes back: without a listener, a lost
 * connection ends the process. A PostgreSQL that shuts down may take leave in the very chunk that made the
 * client ready. Hence the listening begins in the callback of `connect`; after a promise it is too late.
 */
export class LentClient {
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
  static takeFrom(pool: PostgresPool): Promise<LentClient> {
    return new Promise((resolve, reject) => {
      pool.connect((error, client) => {
        if (client === undefined) reject(error);
        else resolve(new LentClient(client));
      });
    });
  }

  /**
   * Lends the client to `use` until `endsAt` (by the monotonic clock), and gives it back to its pool. After
   * anything but a refusal its state is unknown: then the pool closes it.
   */
  async lend<T>(endsAt: number, use: (client: PostgresClient) => Promise<T>): Promise<T> {
    let isUnknown = false;
    try {
      return await withTimeLimit(use(this.client), endsAt - performance.now(), lateError);
    } catch (error) {
      isUnknown = !isRefusal(error);
      throw error;
    } finally {
      this.giveBack(isUnknown);
    }
  }

  /** Gives the client back to its pool, which closes it if its state is unknown, or the connection lost. */
  giveBack(isUnknown: boolean): void {
    this.client.release(this.lostBy ?? isUnknown);
    this.client.removeListener('error', this.#onError);
  }
}

/**
 * Lends a client of the pool to `use`, and gives it back. Rejects once `endsAt` (by the monotonic clock) has
 * passed: pg itself waits for ever for a free client, for a connection, and for an answer.
 */
export async function withClient<T>(
  pool: PostgresPool,
  endsAt: number,
  use: (client: PostgresClient) => Promise<T>,
): Promise<T> {
  let isLate = false;
  const taken = LentClient.takeFrom(pool).then((lent) => {
    if (isLate) lent.giveBack(false);
    return lent;
  });
  const lent = await settledWithin(taken, endsAt - performance.now());
  isLate = lent === undefined;
  if (lent === undefined) throw noClientError();
  return lent.lend(endsAt, use);
}

/** The error of a statement that has not been answered in time. */
export function lateError(): Error {
  return new Error('PostgreSQL gave no answer in time');
}

/** The error of a statement that could not be sent. */
export function noClientError(): Error {
  return new Error('the pool had no client in time: it is exhausted, or PostgreSQL cannot be reached');
}
