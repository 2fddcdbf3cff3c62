import { settledWithin } from '../../receiver/timing/time-limit.ts';
import { invalidOption, readScope } from '../../receiver/values/check-options.ts';
import { messageOf, propertyOf, show } from '../../receiver/values/foreign-values.ts';
import { checkPool } from '../../stores/postgres/client.ts';
import type { QueuePool } from './postgres/pool.ts';

/** The name of a queue, and the server that has it. */
export type BullConnectionOptions = BullRedisOptions | BullPostgresOptions;

/** The name of a queue, and its Redis. */
export interface BullRedisOptions {
  /** The server that has the queue: Redis, by default. */
  readonly backend?: 'redis';
  /**
   * Options for BullMQ, such as `{ host, port, username, password, db, tls }` or `{ url }`, or a client of
   * ioredis with `maxRetriesPerRequest: null`. A client stays yours to close.
   */
  readonly connection: object;
  /**
   * Names the application and its environment: 1 to 64 letters, digits, `.`, `_` or `-`. It is the name of
   * the queue, whose keys begin with `{posthorn}:` and the scope.
   */
  readonly scope: string;
}

/** The name of a queue, and its PostgreSQL. */
export interface BullPostgresOptions {
  /** The server that has the queue. */
  readonly backend: 'postgres';
  /**
   * A pool of `pg` that finds the schema `bullmq` first: `new Pool({ …, options: '-c search_path=bullmq' })`.
   * It has two clients at least, and stays yours to end.
   */
  readonly connection: QueuePool;
  /** As for Redis: names the application and its environment, and is the name of the queue. */
  readonly scope: string;
}

/** The prefix of all keys. The braces put them into one slot of a Redis Cluster, as BullMQ requires. */
export const KEY_PREFIX = '{posthorn}';

/** Throws ConfigurationError for a wrong backend, connection or scope. */
export function checkConnection(functionName: string, options: BullConnectionOptions): void {
  const { backend = 'redis', connection, scope } = options;
  if (options.backend === 'postgres') checkQueuePool(functionName, options.connection);
  else if (backend !== 'redis') {
    throw invalidOption(`backend of ${functionName}`, `must be 'redis' or 'postgres', got ${show(backend)}`);
  } else if (typeof connection !== 'object' || connection === null) {
    throw invalidOption(
      `connection of ${functionName}`,
      `must be options for Redis such as { host, port }, or a client of ioredis; got ${show(connection)}`,
    );
  }
  readScope(functionName, scope);
}

/** A worker keeps one client for notifications, and needs another for its statements. */
function checkQueuePool(functionName: string, pool: QueuePool): void {
  checkPool(`connection of ${functionName} with backend: 'postgres'`, pool);
  const max = propertyOf(propertyOf(pool, 'options'), 'max');
  if (typeof max !== 'number' || max >= 2) return;
  throw invalidOption(
    `connection of ${functionName}`,
    `must be a pool of two clients or more, because a worker keeps one for notifications; its max is ${max}`,
  );
}

/** Returns true for a client, which already has its options. */
export function isClient(connection: object): boolean {
  return typeof Reflect.get(connection, 'duplicate') === 'function';
}

/** The pause between two lines about a connection that stays lost. */
const LOG_PAUSE_MS = 60_000;

/** Prints errors of a connection between deliveries and jobs, which nothing else reports. */
export function connectionLog(subject: string): (error: unknown) => void {
  let quietUntil = 0;
  return (error) => {
    const now = performance.now();
    if (now < quietUntil) return;
    quietUntil = now + LOG_PAUSE_MS;
    // biome-ignore lint/suspicious/noConsole: a lost connection would go unnoticed
    console.error(`posthorn: ${subject}: ${messageOf(error)}; the same for a minute is not printed`);
  };
}

/** A queue or a worker of BullMQ. */
interface Closable {
  close(): Promise<void>;
  disconnect(): Promise<void>;
}

/** The time limit for closing connections. While the server is away, BullMQ would wait forever. */
const CLOSE_LIMIT_MS = 2_000;

/** Closes the connections of a queue or a worker, or cuts them off if that fails or takes too long. */
export async function closeInTime(bull: Closable): Promise<void> {
  const closed = bull.close().then(
    () => true,
    () => false,
  );
  if ((await settledWithin(closed, CLOSE_LIMIT_MS)) === true) return;
  // Not awaited: a client of ioredis that was about to reconnect never reports its end.
  bull.disconnect().catch(() => {});
}
