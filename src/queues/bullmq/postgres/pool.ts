import { invalidOption } from '../../../receiver/checks/check-options.ts';
import { propertyOf } from '../../../receiver/values/foreign-values.ts';
import type { PostgresClient, PostgresPool } from '../../../stores/postgres/client.ts';

/** The parts of a `Pool` of `pg` 8 that a queue uses. */
export interface QueuePool extends PostgresPool {
  /** Calls back with a client that is taken out of the pool until it is released, or with an error. */
  connect(callback: (error: Error | undefined, client: QueueClient | undefined) => void): void;
  /** posthorn listens until the queue is closed: a lost idle client without a listener ends the process. */
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** Removes the listener. */
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
}

/** The parts of a client of `pg` 8 that a queue uses. */
export interface QueueClient extends PostgresClient {
  /** Listens for errors while posthorn has the client. */
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** Listens for the notifications of new jobs. */
  on(event: 'notification', listener: (message: QueueNotification) => void): unknown;
  /** Removes the listener when the client is given back. */
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  /** Removes the listener for notifications. */
  removeListener(event: 'notification', listener: (message: QueueNotification) => void): unknown;
}

/** A notification of PostgreSQL. */
export interface QueueNotification {
  /** The name after `LISTEN`. */
  readonly channel: string;
  /** The text that was sent along. */
  readonly payload?: string;
}

/** Returns the pool; throws ConfigurationError if a queue cannot use it. */
export function readQueuePool(functionName: string, connection: object): QueuePool {
  if (!isPool(connection)) {
    throw invalidOption(
      `connection of ${functionName}`,
      `must be a pool of pg 8 with backend: 'postgres': new Pool({ …, options: '-c search_path=bullmq' })`,
    );
  }
  const options = propertyOf(connection, 'options');
  if (propertyOf(options, 'binary') === true) {
    throw invalidOption(
      `connection of ${functionName}`,
      'must be a pool without binary: true, because BullMQ reads results as texts',
    );
  }
  const max = propertyOf(options, 'max');
  if (typeof max !== 'number' || max >= 2) return connection;
  throw invalidOption(
    `connection of ${functionName}`,
    `must be a pool of two clients or more, because a worker keeps one for notifications; its max is ${max}`,
  );
}

/** Returns true for a pool of `pg`. */
export function isPool(connection: object): connection is QueuePool {
  return (
    typeof propertyOf(connection, 'connect') === 'function' &&
    typeof propertyOf(connection, 'totalCount') === 'number'
  );
}
