import { Redis } from 'ioredis';
import type { DeadLetters, Store } from 'posthorn';
import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';

/** Creates the store and the dead letters of the examples in a Redis, once it can be reached. */
export async function createRedisParts(url: string): Promise<{
  readonly store: Store;
  readonly deadLetters: DeadLetters;
}> {
  const redis = new Redis(url, { socketTimeout: 5_000 });
  redis.on('error', (error) => console.error(`redis: ${error.message}`));
  await new Promise((resolve) => redis.once('ready', resolve));
  const scope = 'example-development';
  return {
    store: createRedisStore(redis, { scope }),
    deadLetters: createRedisDeadLetters(redis, { scope }),
  };
}
