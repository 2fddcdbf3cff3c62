import type { Redis } from 'ioredis';
import { withTimeLimit } from '../../receiver/timing/time-limit.ts';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import type { RedisClient } from '../../stores/redis/client.ts';

/** A client that is not connected yet. */
export interface RedisConnection {
  readonly client: RedisClient;
  readonly connect: () => Promise<void>;
  readonly close: () => void;
}

/** Creates a client for an address. Throws if the address is not a URL. */
export type CreateConnection = (url: string) => RedisConnection;

/** The time limit of a server that is connected to, or asked. */
const LIMIT_MS = 5_000;

/** The packages with which the program connects, by their names, in the order in which they are tried. */
export const redisClients: Readonly<Record<string, () => Promise<CreateConnection>>> = {
  ioredis: async () => {
    const ioredis = await import('ioredis');
    return (url) =>
      ofIoredis(
        new ioredis.Redis(url, {
          lazyConnect: true,
          connectTimeout: LIMIT_MS,
          socketTimeout: LIMIT_MS,
          retryStrategy: () => null,
        }),
      );
  },
  redis: async () => {
    const { createClient } = await import('redis');
    return (url) =>
      // Its `socketTimeout` would close the connection while a handler of a replay runs.
      ofNodeRedis(createClient({ url, socket: { connectTimeout: LIMIT_MS, reconnectStrategy: false } }));
  },
};

function ofIoredis(client: Redis): RedisConnection {
  let lastError: unknown;
  client.on('error', (error) => {
    lastError = error;
  });
  const connect = async (): Promise<void> => {
    await client.connect();
    // ioredis stays in database 0 if it cannot select the one of the address.
    if (client.options.db) await client.select(client.options.db);
  };
  return {
    client,
    connect: () =>
      connect().catch((error: unknown) => {
        throw lastError ?? error;
      }),
    close: () => client.disconnect(),
  };
}

/** The parts of a client of node-redis that are used here, which its versions share. */
type NodeRedis = RedisClient & {
  readonly isOpen: boolean;
  on(event: 'error', listener: () => void): unknown;
  connect(): Promise<unknown>;
  ping(): Promise<unknown>;
  destroy(): unknown;
};

function ofNodeRedis(client: NodeRedis): RedisConnection {
  client.on('error', () => {});
  const connect = async (): Promise<void> => {
    await client.connect();
    await client.ping().catch(passIfForbidden);
  };
  return {
    client,
    connect: () =>
      withTimeLimit(connect(), LIMIT_MS, () => new Error(`it has not answered within ${LIMIT_MS} ms`)),
    close: () => {
      if (client.isOpen) client.destroy();
    },
  };
}

/** node-redis connects without a password to a server that needs one, so a command has to ask. */
function passIfForbidden(error: unknown): void {
  if (!messageOf(error).startsWith('NOPERM ')) throw error;
}
