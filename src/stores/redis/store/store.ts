import type { Store } from '../../../receiver/dedupe/store.ts';
import { withOwnLimits } from '../../../receiver/dedupe/time-limited.ts';
import { readServerOptions } from '../../kit/server-options.ts';
import { createServerStore } from '../../kit/server-store.ts';
import { type RedisClient, toScriptClient } from '../client.ts';
import { RedisConnection } from '../connection.ts';
import { RedisOperations } from './operations.ts';

/** Options of {@link createRedisStore}. */
export interface RedisStoreOptions {
  /**
   * Names the application and its environment, for example `billing-production`: 1 to 64 letters, digits,
   * `.`, `_` or `-`. Every key begins with it; receivers with the same scope share their ids.
   */
  readonly scope: string;
  /** The time after which a command counts as failed, in milliseconds; 2,000 by default. */
  readonly commandTimeoutMs?: number | undefined;
}

/**
 * Keeps event ids in Redis, so that several processes share them, whatever their clients. The client is one
 * of ioredis 5 or 6, of node-redis 5 or 6 or of `@upstash/redis`: a single Redis, Sentinel or Cluster, but
 * of node-redis no pool, and a Cluster from 6.2 on. Connecting and closing it is up to you. Each operation is
 * one call of a script on one key, and operations that begin in one turn of the event loop share a command.
 * An operation rejects with UnavailableError (`store_unavailable`) if Redis refuses, fails or is late.
 *
 * While the client connects, an operation waits for it within `commandTimeoutMs`. In an outage that has
 * lasted longer, and with a client that will not connect by itself, it rejects at once.
 *
 * @throws ConfigurationError if the client is not one of these, and for a wrong or missing option.
 *
 * @example
 * ```ts
 * import { Redis } from 'ioredis';
 * import { createReceiver } from 'posthorn';
 * import { createRedisStore } from 'posthorn/redis';
 *
 * const redis = new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379');
 * const store = createRedisStore(redis, { scope: 'billing-production' });
 * const receiver = createReceiver({ signingKey, store });
 * ```
 */
export function createRedisStore(redis: RedisClient, options: RedisStoreOptions): Store {
  const client = toScriptClient('createRedisStore', redis);
  const { scope, commandTimeoutMs } = readServerOptions('createRedisStore', options, 2_000);
  const connection = new RedisConnection(client, commandTimeoutMs);
  const operations = new RedisOperations(connection, scope);
  const store = createServerStore({
    name: 'Redis',
    commandTimeoutMs,
    run: (operation) => operations.run(operation),
    mustWait: () => !connection.isReady,
  });
  return withOwnLimits(store);
}
