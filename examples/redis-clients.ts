/*
 * Clients of Redis for `createRedisStore`, through Sentinel and in a Cluster: copy the one that you need.
 * docs/redis.md has the client of a single Redis, and says what the options are for.
 */

import { Cluster, Redis } from 'ioredis';
import type { NodeRedisClient } from 'posthorn/redis';
import { createCluster, createSentinel } from 'redis';

const sentinels = [
  { host: 'sentinel-1', port: 26379 },
  { host: 'sentinel-2', port: 26379 },
  { host: 'sentinel-3', port: 26379 },
];
/** Some nodes of the Cluster: they name the others. */
const nodes = [
  { host: 'node-1', port: 6379 },
  { host: 'node-2', port: 6379 },
];
const soonAgain = (times: number): number => Math.min(times * 20, 1_000);
const printError = (error: Error): void => console.error('redis:', error.message);

export function createIoredisSentinel(): Redis {
  const redis = new Redis({
    sentinels,
    name: 'primary',
    socketTimeout: 5_000,
    reconnectOnError: (error) => error.message.includes('READONLY'),
    sentinelRetryStrategy: soonAgain,
    retryStrategy: soonAgain,
  });
  return redis.on('error', printError);
}

export function createIoredisCluster(): Cluster {
  const redis = new Cluster(nodes, {
    clusterRetryStrategy: soonAgain,
    redisOptions: { socketTimeout: 5_000 },
  });
  return redis.on('error', printError);
}

export async function connectSentinel(): Promise<NodeRedisClient> {
  const options = { pingInterval: 4_000, socket: { reconnectStrategy: soonAgain, socketTimeout: 5_000 } };
  const redis = createSentinel({
    name: 'primary',
    sentinelRootNodes: sentinels,
    nodeClientOptions: options,
    sentinelClientOptions: options,
  });
  redis.on('error', printError);
  await redis.connect();
  return redis;
}

/** With node-redis 6.2 or later. */
export async function connectCluster(): Promise<NodeRedisClient> {
  const redis = createCluster({
    rootNodes: nodes.map((socket) => ({ socket })),
    defaults: { pingInterval: 4_000, socket: { socketTimeout: 5_000 } },
  });
  redis.on('error', printError);
  await redis.connect();
  return redis;
}
