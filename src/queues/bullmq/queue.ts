import { checkOptions, invalidOption } from '../../receiver/checks/check-options.ts';
import type { Queue } from '../../receiver/queue/queue.ts';
import { type BullConnectionOptions, checkConnection } from './connection.ts';
import { readQueuePool } from './postgres/pool.ts';
import { createPostgresQueue } from './postgres/queue.ts';
import { readMaxMemoryShare } from './redis/memory-share.ts';
import { createRedisQueue } from './redis/queue.ts';

/** Options of {@link createBullQueue}. */
export interface BullQueueOptions extends BullConnectionOptions {
  /**
   * Only for Redis: the part of its `maxmemory` that may be in use after a job is added, above 0 and at most
   * 1; 0.9 by default. Beyond it `add` refuses, because workers need memory to take and to remove jobs. It
   * applies only under `maxmemory-policy noeviction` with a `maxmemory`; 1 leaves the refusal to Redis.
   */
  readonly maxMemoryShare?: number | undefined;
}

/**
 * Creates a queue in Redis, or in PostgreSQL, through BullMQ. A job is as durable as its server: Redis needs
 * `appendonly yes` and `maxmemory-policy noeviction`. PostgreSQL needs the tables of
 * {@link migrateBullQueue}.
 *
 * @throws ConfigurationError for a wrong option.
 *
 * @example
 * ```ts
 * import { createReceiver } from 'posthorn';
 * import { createBullQueue } from 'posthorn/bullmq';
 *
 * const queue = createBullQueue({ connection: { host: 'redis' }, scope: 'billing-production' });
 * const receiver = createReceiver({ signingKey, queue });
 * receiver.on('transfer.*', book, { name: 'book', queue: true });
 * ```
 */
export function createBullQueue(options: BullQueueOptions): Queue {
  checkOptions(options, ['backend', 'connection', 'scope', 'maxMemoryShare'], 'createBullQueue');
  checkConnection('createBullQueue', options);
  const { backend, connection, scope, maxMemoryShare } = options;
  if (backend !== 'postgres') return createRedisQueue(options, readMaxMemoryShare(maxMemoryShare));
  const pool = readQueuePool('createBullQueue', connection);
  if (maxMemoryShare === undefined) return createPostgresQueue(pool, scope);
  throw invalidOption(
    'maxMemoryShare',
    "is about the memory of Redis: leave it out with backend: 'postgres'",
  );
}
