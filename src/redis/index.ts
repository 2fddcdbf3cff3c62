export type { RedisClient } from './client.ts';
export { createRedisDeadLetters, type RedisDeadLettersOptions } from './dead-letters.ts';
export { createRedisStore, type RedisStoreOptions } from './store.ts';
