import { Queue as BullQueue, Worker } from 'bullmq';
import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';
import { type Fixture, useRedis } from '../../stores/redis/fixture.ts';
import { ampleTime } from '../../support/limits.ts';
import type { QueueServer } from './queue-server.ts';

export const PREFIX = '{posthorn}';

/** The key of a part of the queue. */
export function queueKey(scope: string, name: string): string {
  return `${PREFIX}:${scope}:${name}`;
}

/** Starts a Redis for the queues of a suite. */
export function useRedisQueueServer(): QueueServer {
  return redisQueueServer(useRedis());
}

/** Queues in a Redis, by default in the one of the fixture. */
export function redisQueueServer(
  fixture: Fixture,
  redis?: { readonly port: number },
): QueueServer & { readonly options: { readonly connection: { readonly port: number } } } {
  const connect = () => fixture.connect({ port: (redis ?? fixture.redis).port });
  let own: ReturnType<typeof connect> | undefined;
  const client = () => {
    own ??= connect();
    return own;
  };
  // The Redis of a fixture is started after the tests are collected.
  const options = () => {
    const { port } = redis ?? fixture.redis;
    return { connection: { host: '127.0.0.1', port, retryStrategy: () => 50 } };
  };
  return {
    get options() {
      return options();
    },
    openStore: async (scope) => createRedisStore(await connect(), { scope, ...ampleTime }),
    openDeadLetters: async (scope) => createRedisDeadLetters(await connect(), { scope }),
    openBull: (scope) => new BullQueue(scope, { ...options(), prefix: PREFIX }),
    openBullWorker: (scope, run, given) => new Worker(scope, run, { ...options(), prefix: PREFIX, ...given }),
    promote: (bull) => bull.promoteJobs(),
    loseLock: async (scope, jobId) => void (await (await client()).del(queueKey(scope, `${jobId}:lock`))),
    allowStalledCheck: async (scope) => void (await (await client()).del(queueKey(scope, 'stalled-check'))),
    markForStalledCheck: async (scope, jobId) =>
      void (await (await client()).sadd(queueKey(scope, 'stalled'), jobId)),
    setCounts: async (scope, jobId, { attempts, stalls }) => {
      const job = queueKey(scope, jobId);
      if (attempts !== undefined) await (await client()).hset(job, 'atm', attempts);
      if (stalls !== undefined) await (await client()).hset(job, 'stc', stalls);
    },
  };
}
