import { Redis } from 'ioredis';
import { createReceiver } from 'posthorn';
import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';

// Functions run in several processes, whose memory is lost: ids and dead letters are kept in Redis.
const redis = new Redis(process.env.REDIS_URL, { socketTimeout: 5_000 });
redis.on('error', (error) => console.error(`redis: ${error.message}`));
await new Promise((resolve) => redis.once('ready', resolve));
const scope = 'example-development';

export const receiver = createReceiver({
  signingKey: process.env.SIGNING_KEY,
  store: createRedisStore(redis, { scope }),
  deadLetters: createRedisDeadLetters(redis, { scope }),
});
receiver.on('*', (event) => console.log(event.type, event.id));
