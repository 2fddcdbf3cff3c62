import { invalidOption, readScope } from '../../receiver/checks/check-options.ts';
import { performance } from '../../receiver/timing/process-clock.ts';
import { settledWithin } from '../../receiver/timing/time-limit.ts';
import { messageOf, show } from '../../receiver/values/foreign-values.ts';
import { isPool } from './postgres/pool.ts';

/** The name of a queue, and the server that has it. */
export interface BullConnectionOptions {
  /** The server that has the queue: `redis` by default. */
  readonly backend?: 'redis' | 'postgres' | undefined;
  /**
   * For Redis: options for BullMQ, such as `{ host, port, username, password, db, tls }` or `{ url }`, or a
   * client of ioredis with `maxRetriesPerRequest: null`.
   *
   * For PostgreSQL: a pool of `pg` that has two clients or more and finds the schema `bullmq` first, by
   * `new Pool({ …, options: '-c search_path=bullmq' })`.
   *
   * You close the client or the pool yourself.
   */
  readonly connection: object;
  /**
   * Names the application and its environment: 1 to 64 letters, digits, `.`, `_` or `-`. It is the name of
   * the queue, whose keys in Redis begin with `{posthorn}:` and the scope.
   */
  readonly scope: string;
}

/** The prefix of all keys. The braces put them into one slot of a Redis Cluster, as BullMQ requires. */
export const KEY_PREFIX = '{posthorn}';

/** Checks the backend and the scope, and the connection to Redis; throws ConfigurationError. */
export function checkConnection(functionName: string, options: BullConnectionOptions): void {
  const { backend = 'redis', connection, scope } = options;
  if (backend !== 'redis' && backend !== 'postgres') {
    throw invalidOption(`backend of ${functionName}`, `must be 'redis' or 'postgres', got ${show(backend)}`);
  }
  if (backend === 'redis' && (typeof connection !== 'object' || connection === null)) {
    throw invalidOption(
      `connection of ${functionName}`,
      `must be options for Redis such as { host, port }, or a client of ioredis; got ${show(connection)}`,
    );
  }
  if (backend === 'redis' && isPool(connection)) {
    throw invalidOption(
      `connection of ${functionName}`,
      "is a pool of pg: give backend: 'postgres' with it, or options for Redis such as { host, port }",
    );
  }
  readScope(functionName, scope);
}

/** Returns true for a client, which already has its options. */
export function isClient(connection: object): boolean {
  return typeof Reflect.get(connection, 'duplicate') === 'function';
}

/** The pause between two lines about a connection that stays lost. */
const LOG_PAUSE_MS = 60_000;

/** Prints errors of a connection. While no delivery or job runs, nothing else reports them. */
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
export interface Closable {
  close(): Promise<void>;
  disconnect(): Promise<void>;
}

/** The time limit for closing connections. While the server is away, BullMQ would wait forever. */
const CLOSE_LIMIT_MS = 2_000;

/** Cuts off the connections to Redis. */
export function disconnect(bull: Closable): void {
  // Not awaited, because a client of ioredis that was about to reconnect never reports its end.
  bull.disconnect().catch(() => {});
}

/** Closes the connections of a queue or a worker, or calls `cutOff` if that fails or takes too long. */
export async function closeInTime(bull: Closable, cutOff: (bull: Closable) => void): Promise<void> {
  const closed = bull.close().then(
    () => true,
    () => false,
  );
  if ((await settledWithin(closed, CLOSE_LIMIT_MS)) !== true) cutOff(bull);
}
