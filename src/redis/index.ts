export { createRedisDeadLetters, type RedisDeadLettersOptions } from '../dead-letters/redis.ts';
export { createRedisStore, type RedisStoreOptions } from '../stores/redis.ts';
export type { RedisClient } from './client.ts';
