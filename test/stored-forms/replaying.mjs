// A receiver on what an earlier version has stored, for `posthorn dead-letters replay --receiver`.

import { createReceiver } from 'posthorn';

const { DIRECTORY, REDIS_URL, POSTGRES_URL, SCOPE } = process.env;
const scope = SCOPE;

async function open() {
  if (DIRECTORY !== undefined) {
    const { createFileDeadLetters } = await import('posthorn/file');
    return { deadLetters: createFileDeadLetters(DIRECTORY) };
  }
  if (REDIS_URL !== undefined) {
    const { Redis } = await import('ioredis');
    const { createRedisDeadLetters, createRedisStore } = await import('posthorn/redis');
    const redis = new Redis(REDIS_URL);
    return {
      store: createRedisStore(redis, { scope }),
      deadLetters: createRedisDeadLetters(redis, { scope }),
    };
  }
  const { default: pg } = await import('pg');
  const { createPostgresDeadLetters, createPostgresStore } = await import('posthorn/postgres');
  const pool = new pg.Pool({ connectionString: POSTGRES_URL });
  return {
    store: createPostgresStore(pool, { scope }),
    deadLetters: createPostgresDeadLetters(pool, { scope }),
  };
}

export const receiver = createReceiver({ signingKey: 'any', ...(await open()) })
  .on('*', ({ id }) => process.stderr.write(`log ${id}\n`), { name: 'log' })
  .on('transfer.*', ({ id }) => process.stderr.write(`book ${id}\n`), { name: 'book' });
