export type { RedisClient } from './client.ts';
export type { IoredisClient } from './clients/ioredis.ts';
export type { NodeRedisClient } from './clients/node-redis.ts';
export type { UpstashClient } from './clients/upstash.ts';
export { createRedisDeadLetters, type RedisDeadLettersOptions } from './dead-letters/dead-letters.ts';
export { createRedisStore, type RedisStoreOptions } from './store/store.ts';
