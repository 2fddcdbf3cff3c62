import { Redis } from 'ioredis';

/**
 * The user's client, connected.
 *
 * @param {{ enableAutoPipelining: boolean }} options
 */
export async function connectRedis({ enableAutoPipelining }) {
  const redis = new Redis({ host: '127.0.0.1', port: Number(process.env.REDIS_PORT), enableAutoPipelining });
  await new Promise((resolve, reject) => redis.once('ready', resolve).once('error', reject));
  return redis;
}
