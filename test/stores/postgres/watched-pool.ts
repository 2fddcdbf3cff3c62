import type { Pool } from 'pg';
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
          query: async (statement) => {
            if (typeof statement === 'string') return client.query(statement);
            const values = [...(statement.values ?? [])];
            // The store may be deleting expired ids as well.
            if (statement.text.includes('.operate(')) await onOperations(values);
            return client.query({ ...statement, values });
          },
        });
      }),
  };
}

/** The SQL of a statement as clients take it. */
export function textOf(statement: unknown): string {
  return typeof statement === 'string' ? statement : Object(statement).text;
}

/** The first word of a statement. */
export function firstWord(text: string): string | undefined {
  return text.trim().split(/[\s;]/, 1)[0];
}

/** Collects the SQL of all statements of a pool. */
export function sentBy(pool: Pool): string[] {
  const sent: string[] = [];
  pool.on('connect', (client) => {
    const query = client.query.bind(client);
    Reflect.set(client, 'query', (...values: unknown[]) => {
      sent.push(textOf(values[0]));
      return Reflect.apply(query, client, values);
    });
  });
  return sent;
}
