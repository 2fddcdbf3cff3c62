import { messageOf } from '../../receiver/values/foreign-values.ts';
import type { RedisClient } from '../../stores/redis/client.ts';
import { createRedisDeadLetters } from '../../stores/redis/dead-letters/dead-letters.ts';
import { usageError } from '../failure.ts';
import { addressError, connectionError } from './connection-error.ts';
import { loadPeer, type OtherWays } from './load-peer.ts';
import { type CreateConnection, type RedisConnection, redisClients } from './redis-clients.ts';
import type { StorePart } from './store-part.ts';
import { letterPlaces } from './subjects.ts';

export const redisPart: StorePart = {
  withDeadLetters: (url, { scope }, use) =>
    withRedis(
      requireRedisUrl(url, letterPlaces.addressComplaint),
      (redis) => createRedisDeadLetters(redis, { scope }),
      use,
      // A client of Upstash has another kind of address.
      { after: '; or give --receiver alone, whose module has a client of its own' },
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
  prepare: (redis: RedisClient) => T,
  use: (prepared: T) => Promise<void>,
  otherWays: OtherWays = {},
): Promise<void> {
  const createConnection = await loadPeer(redisClients, otherWays);
  const { client, connect, close } = openConnection(createConnection, url);
  try {
    const prepared = prepare(client);
    try {
      await connect();
    } catch (cause) {
      throw connectionError('Redis', cause, isRefusal(messageOf(cause)));
    }
    await use(prepared);
  } finally {
    close();
  }
}

function openConnection(createConnection: CreateConnection, url: string): RedisConnection {
  try {
    return createConnection(url);
  } catch (error) {
    throw addressError(process.env.REDIS_URL === url ? 'REDIS_URL' : '--redis', error);
  }
}

/** Redis begins its own errors with a code, for example WRONGPASS, NOAUTH or ERR. */
function isRefusal(message: string): boolean {
  return /^(WRONGPASS|NOAUTH|NOPERM) |^ERR (DB index|invalid DB|invalid password|AUTH|Client sent AUTH)/.test(
    message,
  );
}
