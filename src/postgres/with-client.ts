import type { PostgresClient, PostgresPool } from './client.ts';

/**
 * Lends a client of the pool to `use`. Afterwards the client goes back to its pool, unless something failed:
 * then nobody knows what state it is in, and it is closed.
 */
export async function withClient<T>(
  pool: PostgresPool,
  use: (client: PostgresClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let failure: Error | boolean = false;
  const onError = (error: Error): void => {
    failure = error;
  };
  client.on('error', onError);
  try {
    return await use(client);
  } catch (error) {
    failure ||= true;
    throw error;
  } finally {
    client.removeListener('error', onError);
    client.release(failure);
  }
}
