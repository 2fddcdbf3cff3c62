import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { ConfigurationError, createReceiver } from 'posthorn';
import {
  type BullQueueOptions,
  type BullWorkerOptions,
  createBullQueue,
  createBullWorker,
  migrateBullQueue,
} from 'posthorn/bullmq';
import { describe, expect, expectTypeOf, onTestFinished, test } from 'vitest';
import type { QueuePool } from '../../../src/queues/bullmq/postgres/pool.ts';

const scope = 'backend-test';
const receiver = createReceiver({ signingKey: 'key' });

/** Nothing is connected: the options are refused before. */
const functions = [
  { name: 'createBullQueue', create: (options: BullQueueOptions) => createBullQueue(options) },
  { name: 'createBullWorker', create: (options: BullQueueOptions) => createBullWorker(receiver, options) },
];

function openRedis(): Redis {
  const redis = new Redis({ lazyConnect: true, maxRetriesPerRequest: null });
  onTestFinished(() => redis.disconnect());
  return redis;
}

function expectRefused(create: () => unknown, message: string): void {
  expect(create).toThrow(ConfigurationError);
  expect(create).toThrow(message);
}

describe.each(functions)('$name', ({ name, create }) => {
  test.each([undefined, 'redis'] as const)('refuses a pool of pg with the backend %s', (backend) => {
    const options = backend === undefined ? {} : { backend };
    expectRefused(
      () => create({ ...options, connection: new Pool(), scope }),
      `connection of ${name} is a pool of pg: give backend: 'postgres' with it`,
    );
  });

  test('refuses what is for Redis with the backend postgres', () => {
    for (const connection of [{ host: 'redis', port: 6379 }, { url: 'redis://redis' }, openRedis()]) {
      expectRefused(
        () => create({ backend: 'postgres', connection, scope }),
        `connection of ${name} must be a pool of pg 8 with backend: 'postgres'`,
      );
    }
    const connection = new Pool(Object({ binary: true }));
    expectRefused(() => create({ backend: 'postgres', connection, scope }), 'a pool without binary: true');
  });
});

test('the types take a pool of @types/pg, options for Redis and a client of ioredis', () => {
  const pool = new Pool();
  expectTypeOf(migrateBullQueue).toBeCallableWith(pool);
  expectTypeOf(pool).toExtend<QueuePool>();
  expectTypeOf({ backend: 'postgres', connection: pool, scope } as const).toExtend<BullQueueOptions>();
  expectTypeOf({ backend: 'postgres', connection: pool, scope } as const).toExtend<BullWorkerOptions>();
  expectTypeOf({ connection: { host: 'redis' }, scope }).toExtend<BullQueueOptions>();
  expectTypeOf<{ connection: Redis; scope: string }>().toExtend<BullWorkerOptions>();
  expectTypeOf<{ connection: string; scope: string }>().not.toExtend<BullQueueOptions>();
  expectTypeOf<{ backend: 'mysql'; connection: Pool; scope: string }>().not.toExtend<BullQueueOptions>();
});
