import type { Redis } from 'ioredis';
import { messageOf } from '../receiver/values/foreign-values.ts';
import { CommandError, codeOf, usageError } from './failure.ts';
import { ioredisVersions } from './manifest.ts';

/** Checks the address of a Redis. Messages do not quote it, because it may hold a password. */
export function requireRedisUrl(url: string | undefined, complaint: string): string {
  if (url !== undefined && /^rediss?:\/\//.test(url)) return url;
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
  const { Redis } = await loadIoredis();
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
    } catch (cause) {
      throw connectionError(lastError ?? cause);
    }
    await use(prepared);
  } finally {
    redis.disconnect();
  }
}

function connectionError(cause: unknown): CommandError {
  const message = messageOf(cause);
  // Redis begins its own errors with a code, for example WRONGPASS, NOAUTH or ERR.
  if (
    /^(WRONGPASS|NOAUTH|NOPERM) |^ERR (DB index|invalid DB|invalid password|AUTH|Client sent AUTH)/.test(
      message,
    )
  ) {
    const wayOut = 'correct the database, the user or the password in the address';
    return new CommandError('failed', `Redis refuses the connection: ${message}; ${wayOut}`, { cause });
  }
  return new CommandError('unreachable', `Redis cannot be reached: ${message}`, { cause });
}

/** Loads ioredis, which is installed only where it is used, or says how to install it. */
async function loadIoredis(): Promise<{ readonly Redis: typeof Redis }> {
  try {
    return await import('ioredis');
  } catch (cause) {
    if (codeOf(cause) !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new CommandError(
      'package_missing',
      `this needs the package ioredis, which is not installed: npm install "ioredis@${ioredisVersions}"`,
      { cause },
    );
  }
}
