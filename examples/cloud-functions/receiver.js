// A function of Google Cloud that receives webhooks: `npm start`, with SIGNING_KEY and REDIS_URL in its
// environment. The framework parses every body before the function is called, and keeps the bytes in
// `request.rawBody`, where posthorn finds them.

import { http } from '@google-cloud/functions-framework';
import { Redis } from 'ioredis';
import { createReceiver } from 'posthorn';
import { toExpress } from 'posthorn/express';
import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';

// Functions run in several processes, whose memory is lost: ids and letters are kept in Redis.
const redis = new Redis(process.env.REDIS_URL, { socketTimeout: 5_000 });
redis.on('error', (error) => console.error(`redis: ${error.message}`));
await new Promise((resolve) => redis.once('ready', resolve));
const scope = 'example-development';

// Exported for `posthorn dead-letters replay --receiver ./index.js`.
export const receiver = createReceiver({
  signingKey: process.env.SIGNING_KEY,
  store: createRedisStore(redis, { scope }),
  deadLetters: createRedisDeadLetters(redis, { scope }),
});
receiver.on('*', (event) => console.log(event.type, event.id));

http('webhooks', toExpress(receiver));
