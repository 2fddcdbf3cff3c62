import { settledWithin, withTimeLimit } from '../timing/time-limit.ts';
import type { PostgresClient, PostgresPool } from './client.ts';
import { isRefusal } from './refusals.ts';

/**
 * Lends a client of the pool to `use`, and gives it back. Rejects once `endsAt` (by the monotonic clock) has
 * passed: pg itself waits for ever for a free client, for a connection, and for an answer.
 */
export async function withClient<T>(
  pool: PostgresPool,
  endsAt: number,
  use: (client: PostgresClient) => Promise<T>,
): Promise<T> {
  const client = await connectUntil(pool, endsAt);
  if (client !== undefined) return useClient(client, endsAt, use);
  throw noClientError();
}

/** Takes a client out of the pool. Resolves with undefined at `endsAt`; one that comes later goes back. */
export async function connectUntil(pool: PostgresPool, endsAt: number): Promise<PostgresClient | undefined> {
  let isLate = false;
  const connected = pool.connect().then((client) => {
    if (isLate) client.release();
    return client;
  });
  const client = await settledWithin(connected, endsAt - performance.now());
  isLate = client === undefined;
  return client;
}

/**
 * Lends a client to `use` until `endsAt`, and gives it back to its pool. If anything but a refusal ended it,
 * nobody knows what state it is in: then the pool closes it.
 */
export async function useClient<T>(
  client: PostgresClient,
  endsAt: number,
  use: (client: PostgresClient) => Promise<T>,
): Promise<T> {
  let failure: Error | boolean = false;
  const onError = (error: Error): void => {
    failure = error;
  };
  client.on('error', onError);
  try {
    return await withTimeLimit(use(client), endsAt - performance.now(), lateError);
  } catch (error) {
    if (!isRefusal(error)) failure ||= true;
    throw error;
  } finally {
    client.removeListener('error', onError);
    client.release(failure);
  }
}

/** The error of a statement that has not been answered in time. */
export function lateError(): Error {
  return new Error('PostgreSQL gave no answer in time');
}

/** The error of a statement that could not be sent. */
export function noClientError(): Error {
  return new Error('the pool had no client in time: it is exhausted, or PostgreSQL cannot be reached');
}
