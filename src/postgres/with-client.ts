import { settledWithin, withTimeLimit } from '../timing/time-limit.ts';
import type { PostgresClient, PostgresPool } from './client.ts';
import { LentClient } from './lent-client.ts';
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
  const lent = await connectUntil(pool, endsAt);
  if (lent !== undefined) return useClient(lent, endsAt, use);
  throw noClientError();
}

/** Takes a client out of the pool. Resolves with undefined at `endsAt`; one that comes later goes back. */
export async function connectUntil(pool: PostgresPool, endsAt: number): Promise<LentClient | undefined> {
  let isLate = false;
  const taken = LentClient.takeFrom(pool).then((lent) => {
    if (isLate) lent.giveBack(false);
    return lent;
  });
  const lent = await settledWithin(taken, endsAt - performance.now());
  isLate = lent === undefined;
  return lent;
}

/**
 * Lends a client to `use` until `endsAt`, and gives it back to its pool. If anything but a refusal ended it,
 * nobody knows what state it is in: then the pool closes it.
 */
export async function useClient<T>(
  lent: LentClient,
  endsAt: number,
  use: (client: PostgresClient) => Promise<T>,
): Promise<T> {
  let isUnknown = false;
  try {
    return await withTimeLimit(use(lent.client), endsAt - performance.now(), lateError);
  } catch (error) {
    isUnknown = !isRefusal(error);
    throw error;
  } finally {
    lent.giveBack(isUnknown);
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
