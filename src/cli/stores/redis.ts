import type { Redis } from 'ioredis';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import { createRedisDeadLetters } from '../../stores/redis/dead-letters/dead-letters.ts';
import { usageError } from '../failure.ts';
import { connectionError } from './connection-error.ts';
import { loadPeer } from './load-peer.ts';
import { ADDRESS_COMPLAINT } from './place-options.ts';
import type { StorePart } from './store-part.ts';

export const redisPart: StorePart = {
  withDeadLetters: (url, { scope }, use) =>
    withRedis(
      requireRedisUrl(url, ADDRESS_COMPLAINT),
      (redis) => createRedisDeadLetters(redis, { scope }),
      use,
    ),
};

/** Checks the address of a Redis. Messages do not quote it, because it may hold a password. */
export function requireRedisUrl(url: string, complaint: string): string {
  if (/^rediss?:\/\//.test(url)) return url;
  throw usageError(complaint);
}

/**
 * Connects to Redis for as long as `use` takes. `prepare` creates what `use` gets, and checks its options
 * before there is a connection.
 */
export async function withRedis<T>(
  url: string,
  prepare: (redis: Redis) => T,
  use: (prepared: T) => Promise<void>,
): Promise<void> {
  const { Redis } = await loadPeer('ioredis', () => import('ioredis'));
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 5_000,
    socketTimeout: 5_000,
    retryStrategy: () => null,
  });
  let lastError: unknown;
  redis.on('error', (error) => {
    lastError = error;
  });
  try {
    const prepared = prepare(redis);
    try {
      await redis.connect();
      // ioredis stays in database 0 if it cannot select the one of the address.
      if (redis.options.db) await redis.select(redis.options.db);
    } catch (error) {
      const cause = lastError ?? error;
      throw connectionError('Redis', cause, isRefusal(messageOf(cause)));
    }
    await use(prepared);
  } finally {
    redis.disconnect();
  }
}

/** Redis begins its own errors with a code, for example WRONGPASS, NOAUTH or ERR. */
function isRefusal(message: string): boolean {
  return /^(WRONGPASS|NOAUTH|NOPERM) |^ERR (DB index|invalid DB|invalid password|AUTH|Client sent AUTH)/.test(
    message,
  );
}
