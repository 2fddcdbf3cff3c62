import { createRedisStore } from 'posthorn/redis';
import { describe, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { expectLikeMemoryStore } from '../kit/like-memory-store.ts';
import { useRedis } from './fixture.ts';

describe('the Redis store and the memory store', () => {
  const fixture = useRedis();

  test('answer alike, whatever the operations', async () => {
    await expectLikeMemoryStore(createRedisStore(await fixture.connect(), { scope: 'model', ...ampleTime }));
  });
});
