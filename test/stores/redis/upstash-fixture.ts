import { type RedisConfigNodejs, Redis as Upstash } from '@upstash/redis';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { type Fixture, useRedis } from './fixture.ts';
import { type Mistreatment, TOKEN, UpstashFront } from './upstash-front.ts';

/** So that a fault is seen at once. */
export const noRetry = { retry: false } as const;

/** A database as Upstash serves it, before a Redis. */
export interface UpstashFixture {
  readonly redis: Fixture;
  readonly front: UpstashFront;
  readonly connect: (options?: Partial<RedisConfigNodejs>) => Upstash;
  /** Mistreats every request, until the function that it returns is called or the test ends. */
  readonly mistreat: (mistreatment: Mistreatment) => () => void;
}

/** Starts the database before the tests of a suite, and ends it after them. */
export function useUpstash(): UpstashFixture {
  const redis = useRedis();
  let started: UpstashFront | undefined;

  beforeAll(async () => {
    const client = new Redis({ host: '127.0.0.1', port: redis.redis.port });
    started = await UpstashFront.start(redis.keep(client));
  });
  afterAll(() => started?.stop());

  const front = (): UpstashFront => {
    if (started === undefined) throw new Error('the front is started before the tests');
    return started;
  };
  return {
    redis,
    get front() {
      return front();
    },
    connect: (options = {}) => new Upstash({ url: front().url, token: TOKEN, ...options }),
    mistreat: (mistreatment) => {
      front().nextMistreatment = () => mistreatment;
      const heal = (): void => {
        front().nextMistreatment = () => 'none';
      };
      onTestFinished(heal);
      return heal;
    },
  };
}
