// The store, the dead letters and the queue of process.mjs, on its server.

import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { createPostgresDeadLetters, createPostgresInbox, createPostgresStore } from 'posthorn/postgres';
import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';

export async function openRedis(port, scope, onError) {
  const connection = { host: '127.0.0.1', port };
  const redis = new Redis({ ...connection, socketTimeout: 5_000 });
  redis.on('error', onError);
  await new Promise((resolve) => redis.once('ready', resolve));
  return {
    store: createRedisStore(redis, { scope }),
    deadLetters: createRedisDeadLetters(redis, { scope }),
    queueOptions: { connection, scope },
    close: async () => redis.disconnect(),
  };
}

export function openPostgres(port, scope, onError) {
  const address = { host: '127.0.0.1', port, user: 'postgres', database: 'postgres' };
  const pools = [new Pool(address), new Pool({ ...address, options: '-c search_path=bullmq' })];
  for (const pool of pools) pool.on('error', onError);
  const [pool, connection] = pools;
  return {
    store: createPostgresStore(pool, { scope }),
    deadLetters: createPostgresDeadLetters(pool, { scope }),
    inbox: createPostgresInbox(pool, { scope }),
    queueOptions: { backend: 'postgres', connection, scope },
    close: () => Promise.all(pools.map((one) => one.end())),
  };
}
