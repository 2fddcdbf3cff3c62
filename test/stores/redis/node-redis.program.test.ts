import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';
import { createClient as create6 } from 'redis';
import { createClient as create5, createCluster as createCluster5 } from 'redis-5';
import { expect, test } from 'vitest';
import { describeNodeRedis } from './node-redis.ts';

describeNodeRedis('node-redis 6', (options) => create6(options));

test.each([
  ['a pool of node-redis 5', () => create5().createPool()],
  ['a pool of node-redis 6', () => create6().createPool()],
  ['a Cluster of node-redis 5', () => createCluster5({ rootNodes: [{ url: 'redis://127.0.0.1' }] })],
])('%s is refused, with the way out', (_name, create) => {
  for (const createOn of [createRedisStore, createRedisDeadLetters])
    expect(() => Reflect.apply(createOn, undefined, [create(), { scope: 'refused' }])).toThrow(
      /cannot use createClientPool of node-redis, nor createCluster before 6\.2, .* take createClient,/,
    );
});

test('a client of node-redis 4 is refused as too old', () => {
  const old = { isReady: true, isOpen: true, eval: () => {}, evalSha: () => {}, connect: () => {} };
  expect(() => Reflect.apply(createRedisStore, undefined, [old, { scope: 'old' }])).toThrow(
    /createRedisStore takes a client of node-redis 5 or 6, and this one is older/,
  );
});
