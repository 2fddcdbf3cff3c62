import type { PostgresClient, PostgresPool } from './client.ts';

/**
 * A client that is out of its pool, and is listened to until it goes back: without a listener, a lost
 * connection ends the process. A PostgreSQL that shuts down may take leave in the very chunk that made the
 * client ready. Hence the listening begins in the callback of `connect`; after a promise it is too late.
 */
export class LentClient {
  readonly client: PostgresClient;
  /** What the connection was lost by. */
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

  /** Gives the client back to its pool, which closes it if its state is unknown, or the connection lost. */
  giveBack(isUnknown: boolean): void {
    this.client.release(this.lostBy ?? isUnknown);
    this.client.removeListener('error', this.#onError);
  }
}
