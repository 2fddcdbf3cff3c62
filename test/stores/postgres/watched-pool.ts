import type { PostgresPool } from 'posthorn/postgres';

/** A pool that shows the values of each statement of the store, which may be changed, before it is sent. */
export function watchedPool(pool: PostgresPool, onOperations: (values: unknown[]) => unknown): PostgresPool {
  return {
    get totalCount() {
      return pool.totalCount;
    },
    connect: (callback) =>
      pool.connect((error, client) => {
        if (client === undefined) return callback(error, undefined);
        callback(undefined, {
          release: client.release.bind(client),
          on: client.on.bind(client),
          removeListener: client.removeListener.bind(client),
          query: async (text, values = []) => {
            const changed = [...values];
            // The store may be deleting expired ids as well.
            if (text.includes('.operate(')) await onOperations(changed);
            return client.query(text, changed);
          },
        });
      }),
  };
}
