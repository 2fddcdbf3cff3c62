// A function of AWS Lambda that receives webhooks, behind API Gateway, a load balancer or a function URL. Its
// handler is `handler.handler`; SIGNING_KEY and REDIS_URL come from its environment.

import { Redis } from 'ioredis';
import { createReceiver } from 'posthorn';
import { toLambda } from 'posthorn/lambda';
import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';

// Lambda runs several processes, and throws away their memory: ids and letters are kept in Redis.
const redis = new Redis(process.env.REDIS_URL, { socketTimeout: 5_000 });
redis.on('error', (error) => console.error(`redis: ${error.message}`));
await new Promise((resolve) => redis.once('ready', resolve));
const scope = 'example-development';

const receiver = createReceiver({
  signingKey: process.env.SIGNING_KEY,
  store: createRedisStore(redis, { scope }),
  deadLetters: createRedisDeadLetters(redis, { scope }),
  maxRunMs: 20_000, // below the time-out of the function, because Lambda freezes the process after the answer
});
receiver.on('*', (event) => console.log(event.type, event.id));

export const handler = toLambda(receiver);
